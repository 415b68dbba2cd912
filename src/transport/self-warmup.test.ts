import { describe, expect, test } from 'vitest';
import { plainOptions } from './contract/observed-exchange.suite.ts';
import { createTransport, transports } from './select-transport.ts';
import { warmUpClient } from './self-warmup.ts';
import { SseReader } from './sse-reader.ts';
import type { Transport } from './transport.ts';

/** A whole request as an endpoint makes it. */
function readStream(transport: Transport, url: string, onMessage: (data: string) => void): Promise<void> {
  const reader = new SseReader({ onMessage, maxLineBytes: 1 << 20, onLimit: () => {} });
  return new Promise((resolve, reject) => {
    const body = Buffer.from('{"model":"x"}');
    transport.request(
      { method: 'POST', url, headers: [], body, timeoutMs: 0 },
      {
        onHeaders: () => {},
        onData: (bytes, timeMs) => reader.push(bytes, timeMs),
        onEnd: () => resolve(reader.end()),
        onFailure: (failure) => reject(new Error(failure.message)),
      },
    );
  });
}

function kindOf(data: string): string {
  if (data === '[DONE]') return data;
  const message = JSON.parse(data);
  if (message.modality === 'audio') return 'audio';
  const [choice] = message.choices;
  return /^ word\d+$/.test(choice?.delta?.content ?? choice?.text ?? '') ? 'text' : 'other';
}

describe('warmUpClient', () => {
  test.each(['socket', 'node-http'] as const)(
    'plays text and speech events to the %s transport',
    async (name) => {
      const transport = createTransport(name, plainOptions);
      const kinds: Record<string, number> = {};
      const result = await warmUpClient(
        (url) =>
          readStream(transport, url, (data) => {
            const kind = kindOf(data);
            kinds[kind] = (kinds[kind] ?? 0) + 1;
          }),
        { connections: 2, requestsPerConnection: 2, textEventsPerRequest: 200, limitMs: 20_000 },
      );
      expect(result).toMatchObject({ requests: 4, failures: 0, complete: true });
      expect(kinds).toEqual({ text: 800, audio: 8, other: 100, '[DONE]': 4 });
      expect(transport.stats()).toEqual({ connectionsOpened: 2, connectionsReused: 2, requests: 4 });
      transport.close();
    },
  );

  test('its speech is a WAV file as the fmt chunk says', async () => {
    const transport = createTransport('socket', plainOptions);
    let speech = '';
    await warmUpClient(
      (url) =>
        readStream(transport, url, (data) => {
          if (data.includes('"audio"')) speech = JSON.parse(data).choices[0].delta.content;
        }),
      { connections: 1, requestsPerConnection: 1, textEventsPerRequest: 80, limitMs: 20_000 },
    );
    const wav = Buffer.from(speech, 'base64');
    expect(speech.length).toBeGreaterThan(20_000);
    expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
    transport.close();
  });

  test('it ends at its time limit, whatever the requests do', async () => {
    const result = await warmUpClient(() => new Promise(() => {}), { limitMs: 20 });
    expect(result).toMatchObject({ requests: 8, complete: false });
  });

  test('rejected requests are counted', async () => {
    const result = await warmUpClient(() => Promise.reject(new Error('no')), {
      connections: 2,
      requestsPerConnection: 3,
    });
    expect(result).toMatchObject({ requests: 6, failures: 6, complete: true });
  });

  test('each transport is known under its own name', () => {
    for (const [name, make] of Object.entries(transports)) expect(make(plainOptions).name).toBe(name);
  });
});
