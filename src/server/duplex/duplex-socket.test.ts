import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from '../api/wire.suite.ts';
import { DuplexClient, miniCpmO, opening, tone } from './duplex-client.suite.ts';

let server: TestServer;
const clients: DuplexClient[] = [];

beforeAll(async () => {
  server = await testServer({ model: miniCpmO, stageOverrides: null, timeScale: 0.01 });
});
afterAll(async () => {
  for (const client of clients) client.terminate();
  await server.close();
});

async function connected(path = '/v1/realtime?duplex=1&autostart=0'): Promise<DuplexClient> {
  const client = await DuplexClient.open(server.url + path);
  clients.push(client);
  return client;
}

describe('a conversation over a socket', () => {
  test('opens, hears, speaks, commits and closes', async () => {
    const client = await connected();
    client.send(opening());
    const created = await client.next('session.created');
    expect(created).toMatchObject({
      attachment_generation: 1,
      session: { state: 'open', turn_state: 'idle' },
    });
    for (let chunk = 0; chunk < 16; chunk += 1) client.append(tone(200));
    const done = await client.next('response.done');
    expect(done).toMatchObject({ response: { status: 'completed' } });
    client.append(tone(199));
    client.send({ type: 'input_audio_buffer.commit', final: true });
    await client.next('input_audio_buffer.committed');
    await client.next('response.listen', ({ seq }) => seq > client.seqOf('input_audio_buffer.committed'));
    client.send({ type: 'session.close' });
    expect(await client.next('session.closed')).toMatchObject({ reason: 'client_close' });
    await client.closed();
  });
});
