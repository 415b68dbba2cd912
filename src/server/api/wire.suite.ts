import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { type ChatChunk, chatChunkSchema } from '../../protocol/chat-completions.ts';
import { type ServeOptions, serveDefaults } from '../serve-options.ts';
import { type RunningServer, startServer } from '../start-server.ts';

/** One line of a truth log. */
export type TruthLine = {
  t: number;
  id: string;
  event: string;
  tokens?: number;
  bytes?: number;
  samples?: number;
};

export type TestServer = RunningServer & {
  /** The truth log so far. */
  truth(): TruthLine[];
};

const qwen3OmniId = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';

/** A picture of one pixel, as base64. */
export const onePixelPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Two samples at 16 kHz as WAV, as base64; made with Python's `wave`. */
export const shortWav = 'UklGRigAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQQAAAAAAOgD';

/** A word is a token, as in the simulated text. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** Everything happens at once: what is tested is what is sent, not when. */
export const instantly = {
  0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 0.1 }, batchSlope: 0 },
  1: { ttft: { baseMs: 1 }, step: { nativeMs: 0.05 }, batchSlope: 0, length: [60] },
  2: { decode: { firstMs: 0.1, baseMs: 0.1 }, batchSlope: 0 },
};

/** A server on a free port with a truth log of its own. */
export async function testServer(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-server-'));
  const truthLog = join(folder, 'truth.jsonl');
  const server = await startServer(
    { ...serveDefaults, model: qwen3OmniId, port: 0, stageOverrides: instantly, truthLog, ...options },
    { countTokens: countWords, logLine: () => {}, clusterLine: () => {} },
  );
  return {
    ...server,
    truth: () => {
      server.flushTruthLog();
      return readFileSync(truthLog, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line): TruthLine => JSON.parse(line));
    },
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Posts JSON with the platform's own client. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The data of every event, read by a parser that is not ours. */
export async function eventsOf(response: Response): Promise<string[]> {
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  parser.feed(await response.text());
  return events;
}

/** The chunks of a streamed chat, each in the contract's form; the last event must be the end mark. */
export async function chunksOf(response: Response): Promise<ChatChunk[]> {
  const events = await eventsOf(response);
  if (events.at(-1) !== '[DONE]') throw new Error(`The stream ended with ${events.at(-1)}`);
  return events.slice(0, -1).map((event) => chatChunkSchema.parse(JSON.parse(event)));
}

/** What a WAV header says, read by hand from its fixed places. */
export function readWav(bytes: Buffer): { channels: number; rate: number; bits: number; samples: number } {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 16) !== 'WAVEfmt ')
    throw new Error('not a WAV file');
  if (bytes.readUInt32LE(4) !== bytes.length - 8) throw new Error('RIFF size does not match the file');
  const dataBytes = bytes.readUInt32LE(40);
  if (dataBytes !== bytes.length - 44) throw new Error('data size does not match the file');
  const channels = bytes.readUInt16LE(22);
  const bits = bytes.readUInt16LE(34);
  return { channels, rate: bytes.readUInt32LE(24), bits, samples: dataBytes / channels / (bits / 8) };
}

/** Waits until a condition holds; fails after ten seconds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2000; tries += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('The condition never held');
}
