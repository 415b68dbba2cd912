import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorBodySchema } from '../../protocol/error-body.ts';
import { onePixelPng, post, shortWav, type TestServer, testServer } from './wire.suite.ts';

/** Every malformed request is answered with the right status and a body that clients can read, and hurts nobody. */

const models = {
  omni: 'Qwen/Qwen3-Omni-30B-A3B-Instruct',
  text: 'Qwen/Qwen2.5-7B-Instruct',
  tts: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
  image: 'Qwen/Qwen-Image',
  edit: 'Qwen/Qwen-Image-Edit',
  video: 'BestWishYsh/Helios-Distilled',
  embed: 'Qwen/Qwen3-Embedding-0.6B',
  asr: 'openai/whisper-small',
  minicpm: 'openbmb/MiniCPM-o-4_5',
};
type ServerName = keyof typeof models;

/** Largest body that these servers take, MiB. */
export const mostBodyMb = 8;

/** Servers of a test file, and the folder that they may read files of. */
class BadInputServers {
  readonly #names: readonly ServerName[];
  readonly #servers = new Map<ServerName, TestServer>();
  #folder = '';

  constructor(names: readonly ServerName[]) {
    this.#names = names;
  }

  of(name: ServerName): TestServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server ${name}`);
    return server;
  }

  /** The folder whose files may be read, with `one.png`, `inner/two.png`, and links that lead in and out. */
  get allowed(): string {
    return join(this.#folder, 'allowed');
  }

  /** A folder beside it, with `secret.png`. */
  get outside(): string {
    return join(this.#folder, 'allowed-not');
  }

  async start(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), 'omnimeter-media-'));
    this.#writeMedia();
    for (const name of this.#names) {
      const options = name === 'omni' ? {} : { stageOverrides: null };
      const server = await testServer({
        model: models[name],
        timeScale: 0.002,
        allowedLocalMediaPath: this.allowed,
        maxBodyMb: mostBodyMb,
        ...options,
      });
      this.#servers.set(name, server);
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await server.close();
    rmSync(this.#folder, { recursive: true });
  }

  all(): TestServer[] {
    return [...this.#servers.values()];
  }

  #writeMedia(): void {
    const { allowed, outside } = this;
    mkdirSync(join(allowed, 'inner'), { recursive: true });
    mkdirSync(outside);
    const png = Buffer.from(onePixelPng, 'base64');
    writeFileSync(join(allowed, 'one.png'), png);
    writeFileSync(join(allowed, 'inner', 'two.png'), png);
    writeFileSync(join(outside, 'secret.png'), png);
    symlinkSync(join(outside, 'secret.png'), join(allowed, 'link.png'));
    symlinkSync(outside, join(allowed, 'folder-link'));
    symlinkSync(join(allowed, 'inner', 'two.png'), join(allowed, 'good-link.png'));
  }
}

/** Starts the servers that a file's tests need, and ends them. */
export function badInputServers(...names: readonly ServerName[]): BadInputServers {
  const servers = new BadInputServers(names);
  beforeAll(() => servers.start());
  afterAll(() => servers.close());
  return servers;
}

/** A request that is refused, and how. */
export type BadInput = readonly [
  what: string,
  server: ServerName,
  path: string,
  body: () => unknown,
  status: number,
  message: RegExp,
];

/** Every one of them is refused as it says. */
export function refusalTests(servers: BadInputServers, cases: readonly BadInput[]): void {
  describe('refused', () => {
    test.each(cases)('%s', async (_what, name, path, body, status, message) => {
      const server = servers.of(name);
      const sent = body();
      const response =
        sent instanceof FormData
          ? await fetch(server.url + path, { method: 'POST', body: sent })
          : await post(server.url + path, sent);
      const { error } = errorBodySchema.parse(await response.json());
      expect(error.message).toMatch(message);
      expect({ status: response.status, code: error.code }).toEqual({ status, code: status });
    });
  });
}

/** Requests without a body that are refused. */
export function statusTests(
  servers: BadInputServers,
  cases: readonly (readonly [method: string, server: ServerName, path: string, status: number])[],
): void {
  test.each(cases)('refused: %s of %s %s', async (method, name, path, status) => {
    const response = await fetch(servers.of(name).url + path, { method });
    expect(response.status).toBe(status);
    expect(errorBodySchema.parse(await response.json()).error.code).toBe(status);
  });
}

/** To be called last. */
export function aliveTest(servers: BadInputServers): void {
  test('every server is alive and idle after all that', async () => {
    for (const server of servers.all()) {
      const response = await fetch(`${server.url}/health`);
      expect(response.status).toBe(200);
      expect(server.stats().requests).toBe(0);
    }
  });
}

export function form(fields: Record<string, string | Blob | readonly (string | Blob)[]>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) data.append(name, item);
  }
  return data;
}

export const png = (): Blob => new Blob([Buffer.from(onePixelPng, 'base64')], { type: 'image/png' });
export const wav = (): Blob => new Blob([Buffer.from(shortWav, 'base64')], { type: 'audio/wav' });
export const text = (content = 'hello', type = 'text/plain'): Blob => new Blob([content], { type });

export const chatPath = '/v1/chat/completions';
export const messages = [{ role: 'user', content: 'hello' }];

/** A chat about a picture. */
export const image = (url: string): unknown => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'x' },
      ],
    },
  ],
});

export const fileUrl = (...path: string[]): string => pathToFileURL(join(...path)).href;

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A giant picture in a few kilobytes. */
export function zipBomb(sidePx = 60_000): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(sidePx, 0);
  head.writeUInt32BE(sidePx, 4);
  head.writeUInt8(8, 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(8_000_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
