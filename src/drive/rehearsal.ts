import type { Endpoint } from '../endpoints/endpoint.ts';
import { StopSwitch } from '../foundation/stop-switch.ts';
import type { Transport } from '../transport/transport.ts';

/** One request of the client's own warm-up: the whole path of a real one, against a stand-in on the loopback. */
export async function rehearse(
  endpoint: Endpoint,
  transport: Transport,
  url: string,
  maxLineBytes: number,
): Promise<void> {
  const prepared = endpoint.prepare(
    { prompt: 'warm-up', promptTokens: 1, expectedOutputTokens: 1, media: [], requestId: null },
    {
      baseUrl: url,
      url,
      model: 'warm-up',
      headers: [],
      extraBody: {},
      ignoreEos: false,
      logprobs: null,
      stream: true,
    },
  );
  await endpoint.observe(prepared, { transport, timeoutMs: 5000, maxLineBytes, stop: new StopSwitch() });
}
