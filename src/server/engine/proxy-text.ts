import { z } from 'zod';
import { type FinishReason, finishReasons, samplingShape } from '../../protocol/sampling.ts';
import { eventData } from './event-data.ts';
import { ProxyError } from './proxy-error.ts';
import type { StageRequest } from './stage-engine.ts';

/** A piece of a remote reply. */
export type ProxyText = {
  readonly units: number;
  readonly text: string;
  readonly finishReason: FinishReason | null;
  readonly stopReason: string | null;
};

/** What of a request is meant for this server and its pipeline, not for the one that runs a stage of it. */
const ownFields = [
  'modalities',
  'audio',
  'sampling_params_list',
  'return_stage_metrics',
  'initial_codec_chunk_frames',
  'best_of',
  'stream_options',
];

/**
 * The request as the remote server gets it: as it came, with the sampling of this stage and under the remote name of
 * the model. It is always streamed, one choice at a time.
 */
export function remoteTextBody(request: StageRequest, model: string): Record<string, unknown> {
  const body: Record<string, unknown> = { ...request.source?.body };
  const options = z.looseObject({ continuous_usage_stats: z.unknown() }).safeParse(body.stream_options);
  // Parameters by stage stand in place of the request's own, also where they leave one out.
  if (Array.isArray(body.sampling_params_list))
    for (const name of Object.keys(samplingShape)) delete body[name];
  Object.assign(body, request.params.sampling);
  for (const name of ownFields) delete body[name];
  const continuous = options.success && options.data.continuous_usage_stats === true;
  return {
    ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    model,
    n: 1,
    stream: true,
    stream_options: { include_usage: true, ...(continuous ? { continuous_usage_stats: true } : {}) },
  };
}

const text = z.string().nullish();
const chunkSchema = z.looseObject({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.looseObject({
        text,
        delta: z
          .looseObject({
            content: text,
            reasoning_content: text,
            reasoning: text,
            tool_calls: z.array(z.unknown()).nullish(),
          })
          .nullish(),
        finish_reason: text,
        stop_reason: z.union([z.string(), z.number()]).nullish(),
      }),
    )
    .nullish(),
  usage: z.looseObject({ completion_tokens: z.number().int().nonnegative().nullish() }).nullish(),
});
type RemoteChunk = z.infer<typeof chunkSchema>;

function parseChunk(data: string): RemoteChunk {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new ProxyError(502, `The remote server sent an event that is not JSON: ${data.slice(0, 200)}`);
  }
  const result = chunkSchema.safeParse(value);
  if (!result.success)
    throw new ProxyError(502, `The remote server sent an event of another form: ${data.slice(0, 200)}`);
  if (result.data.error !== undefined && result.data.error !== null) throw ProxyError.fromBody(data, null);
  return result.data;
}

/** `content_filter` and what else a server may say have no name here: the reply ended by itself. */
function finishOf(reason: string | null | undefined): FinishReason | null {
  if (reason === null || reason === undefined || reason === '') return null;
  return finishReasons.find((known) => known === reason) ?? 'stop';
}

/**
 * The pieces of a streamed chat or completion. A chunk with text or reasoning counts as one token until the server's
 * usage says how many they were; the last piece carries what was missing. A tool call fails the request, since a
 * stage's output has no place for it.
 * @throws ProxyError for an error inside the stream, a broken event, and a stream that ends too early
 */
export async function* remoteText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ProxyText> {
  let counted = 0;
  let tokens = 0;
  let finishReason: FinishReason | null = null;
  let stopReason: string | null = null;
  for await (const data of eventData(bytes)) {
    if (data === '[DONE]') break;
    const { choices, usage } = parseChunk(data);
    const choice = choices?.[0];
    const delta = choice?.delta;
    if ((delta?.tool_calls?.length ?? 0) > 0)
      throw new ProxyError(501, 'The remote model called a tool; a proxied stage can not hand that on.');
    const piece = choice?.text ?? delta?.content ?? '';
    const reasoned = (delta?.reasoning_content ?? delta?.reasoning ?? '') !== '';
    tokens = usage?.completion_tokens ?? (piece !== '' || reasoned ? tokens + 1 : tokens);
    finishReason ??= finishOf(choice?.finish_reason);
    if (choice?.stop_reason !== null && choice?.stop_reason !== undefined)
      stopReason = String(choice.stop_reason);
    if (piece === '' && !reasoned) continue;
    const units = Math.max(0, tokens - counted);
    counted += units;
    yield { units, text: piece, finishReason: null, stopReason: null };
  }
  if (finishReason === null)
    throw new ProxyError(502, 'The remote server ended its reply before it was finished.');
  yield { units: Math.max(0, tokens - counted), text: '', finishReason, stopReason };
}
