import { readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { instantly, post, type TestServer, testServer } from '../api/wire.suite.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const replySchema = z.object({
  metrics: z.object({
    stage_metrics: z.record(z.string(), z.object({ serving_time_to_first_output_ms: z.number() })),
  }),
});

test.skipIf(process.platform !== 'linux')(
  'a deployment’s connector carries payloads within one process where it is told to, as slowly as it says',
  async () => {
    const deployConfig = new URL('./__fixtures__/qwen3_omni_slow_links.yaml', import.meta.url).pathname;
    // A tenth of the time: 30 ms a link.
    const server = await testServer({
      deployConfig,
      stageOverrides: instantly,
      timeScale: 0.1,
      logStats: true,
    });
    servers.push(server);
    const response = await post(`${server.url}/v1/chat/completions`, {
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 20,
      return_stage_metrics: true,
    });
    const { metrics } = replySchema.parse(await response.json());
    const [thinker = 0, talker = 0, vocoder = 0] = Object.values(metrics.stage_metrics).map(
      (stage) => stage.serving_time_to_first_output_ms,
    );
    // Nothing is early; how late a busy machine makes it is another matter.
    expect(talker - thinker).toBeGreaterThan(29);
    expect(vocoder - talker).toBeGreaterThan(29);
    const { transfers, connector, payloadsInFlight } = server.stats();
    expect(connector).toMatchObject({
      name: 'shared-memory, slowed',
      status: 'up',
      payloads: 0,
      heldBytes: 0,
    });
    expect(payloadsInFlight).toBe(0);
    const [first, second] = transfers;
    expect(first).toMatchObject({ edge: { from: 0, to: 1 }, transfers: 20, bytes: 20 * 8192 });
    expect(second).toMatchObject({ edge: { from: 1, to: 2 }, transfers: 3, received: 3, bytes: 60 * 64 });
    expect(second?.inFlightMs).toBeGreaterThan(3 * 29);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(
      /transfer_in_flight_s_sum\{.*from_stage="1",from_replica="0",to_stage="2",to_replica="0"\} 0\.\d/,
    );
    await server.close();
    servers.length = 0;
    expect(readdirSync('/dev/shm').filter((name) => name.startsWith(`omnimeter-${process.pid}-`))).toEqual(
      [],
    );
  },
);
