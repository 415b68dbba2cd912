import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { fetchOnce, plainOptions } from './contract/observed-exchange.suite.ts';
import { type ScriptedServer, scriptedServer } from './contract/scripted-server.suite.ts';
import { socketTransport } from './http1/socket-transport.ts';
import { nodeHttpTransport } from './node-http-transport.ts';
import type { Transport } from './transport.ts';

/** A reply on the wire and what it means, made independently of any reader. */
type Reply = {
  status: number;
  reason: string;
  headers: [string, string][];
  body: Buffer;
  wire: Buffer;
  closes: boolean;
};

const token = fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const value = fc.stringMatching(/^(?:[!-~\u00a1-\u00ff](?:[ -~\u00a1-\u00ff]{0,30}[!-~\u00a1-\u00ff])?)?$/);
const bodyBytes = fc.uint8Array({ maxLength: 600 });

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Cuts a body into chunks and frames them. */
const chunkedBody = fc
  .array(
    fc.tuple(
      fc.uint8Array({ minLength: 1, maxLength: 120 }),
      fc.boolean(),
      fc.constantFrom('', ';a', ';a=b;c="d e"'),
    ),
    { maxLength: 8 },
  )
  .chain((chunks) => fc.tuple(fc.constant(chunks), fc.constantFrom('', 'x-trailer: 1\r\n')))
  .map(([chunks, trailer]) => ({
    body: Buffer.concat(chunks.map(([bytes]) => bytes)),
    wire: Buffer.concat([
      ...chunks.flatMap(([bytes, upper, extension]) => {
        const size = bytes.length.toString(16);
        return [
          latin1(`${upper ? size.toUpperCase() : size}${extension}\r\n`),
          Buffer.from(bytes),
          latin1('\r\n'),
        ];
      }),
      latin1(`0\r\n${trailer}\r\n`),
    ]),
  }));

const reply: fc.Arbitrary<Reply> = fc
  .record({
    status: fc.constantFrom(200, 201, 204, 304, 400, 404, 429, 500, 503, 599),
    reason: fc.constantFrom('', 'OK', 'Some Reason: with, marks'),
    extra: fc.array(fc.tuple(token, value), { maxLength: 6 }),
    framing: fc.constantFrom('length', 'chunked', 'close'),
    plain: bodyBytes,
    chunked: chunkedBody,
    interim: fc.boolean(),
  })
  .map(({ status, reason, extra, framing, plain, chunked, interim }) => {
    const bodiless = status === 204 || status === 304;
    const headers: [string, string][] = [...extra];
    if (!bodiless && framing === 'length') headers.push(['content-length', String(plain.length)]);
    if (!bodiless && framing === 'chunked') headers.push(['transfer-encoding', 'chunked']);
    const head = `HTTP/1.1 ${status} ${reason}\r\n${headers.map(([name, text]) => `${name}: ${text}\r\n`).join('')}\r\n`;
    const body = bodiless ? Buffer.alloc(0) : framing === 'chunked' ? chunked.body : Buffer.from(plain);
    const framed = bodiless ? Buffer.alloc(0) : framing === 'chunked' ? chunked.wire : Buffer.from(plain);
    const before = interim ? 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' : '';
    const wire = Buffer.concat([latin1(before + head), framed]);
    return { status, reason, headers, body, wire, closes: !bodiless && framing === 'close' };
  });

/** Cuts bytes at the given fractions of their length. */
function cutAt(bytes: Buffer, fractions: readonly number[]): Buffer[] {
  const points = [...new Set(fractions.map((part) => Math.floor(part * bytes.length)))].sort((a, b) => a - b);
  return [0, ...points]
    .map((from, i) => bytes.subarray(from, points[i] ?? bytes.length))
    .filter((piece) => piece.length > 0);
}

describe('both transports agree', () => {
  let pieces: Buffer[] = [];
  let closes = false;
  let server: ScriptedServer;
  const transports: Transport[] = [];

  beforeAll(async () => {
    server = await scriptedServer(async (peer) => {
      while ((await peer.request()) !== null) {
        await peer.writePieces(pieces);
        if (closes) peer.end();
      }
    });
    transports.push(socketTransport(plainOptions), nodeHttpTransport(plainOptions));
  });
  afterAll(async () => {
    for (const transport of transports) transport.close();
    await server.close();
  });

  property([reply, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })], {
    numRuns: 300,
  })('on any valid reply, however it is cut into reads', async (expected, fractions) => {
    pieces = cutAt(expected.wire, fractions);
    closes = expected.closes;
    const headers: Record<string, string> = {};
    for (const [name, text] of expected.headers) {
      headers[name] = headers[name] === undefined ? text : `${headers[name]}, ${text}`;
    }
    for (const transport of transports) {
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure, transport.name).toBeNull();
      expect(seen.status).toBe(expected.status);
      expect(seen.reason).toBe(expected.reason);
      expect(seen.headers).toEqual(headers);
      expect(seen.body.equals(expected.body)).toBe(true);
      expect(seen.times?.responseBytes).toBe(expected.wire.length);
    }
  });

  property(
    [
      reply,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc.boolean(),
    ],
    { numRuns: 300 },
  )('neither hangs nor throws on a reply that was tampered with', async (original, where, noise, cut) => {
    const at = Math.floor(where * original.wire.length);
    const tail = cut ? [] : [original.wire.subarray(at + noise.length)];
    pieces = [Buffer.concat([original.wire.subarray(0, at), noise, ...tail])];
    closes = true;
    for (const transport of transports) {
      const seen = await fetchOnce(transport, { url: server.url });
      expect(['end', 'failure']).toContain(seen.calls.at(-1));
    }
  });
});
