import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { instantly, post, type TestServer, testServer } from '../api/wire.suite.ts';
import { natsServerPath, noNatsServer, startNatsServer } from '../cluster/nats-server.suite.ts';

const servers: TestServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
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

describe('a NatsConnector in one process', () => {
  /** Serves with the bundled deployment's connector replaced. */
  async function served(extra: string): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), 'omnimeter-connector-'));
    folders.push(folder);
    const deployConfig = join(folder, 'nats.yaml');
    writeFileSync(
      deployConfig,
      'base_config: qwen3_omni.yaml\nconnectors:\n' +
        `  connector_of_shared_memory: { name: NatsConnector, extra: ${extra} }\n`,
    );
    const server = await testServer({ deployConfig });
    servers.push(server);
    return server;
  }

  function ofConnectors({ notices }: TestServer): string[] {
    return notices.filter((notice) => notice.includes('Connector'));
  }

  async function chats(server: TestServer): Promise<number> {
    const body = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };
    return (await post(`${server.url}/v1/chat/completions`, body)).status;
  }

  test.each(['{}', '{ url: "nats://127.0.0.1:1" }'])(
    'hands over by reference, and the user is told: %s',
    async (extra) => {
      const server = await served(extra);
      expect(ofConnectors(server)).toEqual([
        expect.stringMatching(
          /^Connector connector_of_shared_memory \(NatsConnector\), stage 0 to 1, 1 to 2, has no effect: .*by reference/,
        ),
      ]);
      expect(await chats(server)).toBe(200);
      expect(server.stats().connector.name).toBe('in-process');
    },
  );

  test('that is to be used always needs a broker’s address', async () => {
    await expect(served('{ always: true }')).rejects.toThrow(
      /Stage 0 to 1: connector connector_of_shared_memory \(NatsConnector\) has no broker.*url: nats:\/\/host:port/,
    );
  });

  test('that is to be used always needs the broker', async () => {
    await expect(served('{ always: true, url: "nats://127.0.0.1:1" }')).rejects.toThrow(
      /no NATS broker at nats:\/\/127\.0\.0\.1:1 .*nats-server -a 127\.0\.0\.1 -p 1/,
    );
  });

  test.skipIf(natsServerPath === null)(
    `that is to be used always sends payloads through the broker${natsServerPath === null ? noNatsServer : ''}`,
    async () => {
      const nats = await startNatsServer();
      try {
        const server = await served(`{ always: true, url: "nats://127.0.0.1:${nats.port}" }`);
        expect(ofConnectors(server)).toEqual([]);
        expect(await chats(server)).toBe(200);
        const { connector, transfers } = server.stats();
        expect(connector).toMatchObject({ name: 'nats', payloads: 0 });
        // 20 tokens' states, and 60 frames' codes in chunks of 25.
        expect(transfers).toMatchObject([
          { received: 20, bytes: 20 * 8192 },
          { received: 3, bytes: 60 * 64 },
        ]);
      } finally {
        for (const server of servers.splice(0)) await server.close();
        await nats.kill();
      }
    },
  );
});
