import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { property } from '../../foundation/property.suite.ts';
import { inputChunks, lengthWithResidual } from './input-chunks.ts';
import { packLivePlan, unpackLivePlan } from './live-body.ts';
import { realtimeUrl } from './realtime-url.ts';

describe('chunks of the input', () => {
  property([fc.integer({ min: 1, max: 40 })])(
    'of n whole seconds are 5n, the last of 6398 bytes, with a frame at each half second',
    (seconds) => {
      const length = lengthWithResidual(seconds * 32_000, 16_000, 1000);
      expect(length).toBe(seconds * 32_000 - 2);
      const chunks = inputChunks(length, 16_000, seconds);
      expect(chunks).toHaveLength(seconds * 5);
      expect(chunks.at(-1)).toMatchObject({ endMs: seconds * 1000 - 1, durationMs: 199 });
      expect((chunks.at(-1)?.end ?? 0) - (chunks.at(-1)?.start ?? 0)).toBe(6398);
      const carriers = chunks.flatMap(({ frames, endMs }) => frames.map((frame) => [frame, endMs]));
      expect(carriers).toEqual(Array.from({ length: seconds }, (_, k) => [k, k * 1000 + 600]));
    },
  );

  it('leave a recording alone that has a rest of a unit, and follow the unit’s length', () => {
    expect(lengthWithResidual(32_002, 16_000, 1000)).toBe(32_002);
    expect(lengthWithResidual(64_000, 16_000, 2000)).toBe(63_998);
    expect(lengthWithResidual(32_000, 16_000, 2000)).toBe(32_000);
  });

  property([fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 8 })])(
    'cover every byte once, in order',
    (samples, frames) => {
      const chunks = inputChunks(samples * 2, 16_000, frames);
      let at = 0;
      for (const { start, end } of chunks) {
        expect(start).toBe(at);
        at = end;
      }
      expect(at).toBe(samples * 2);
    },
  );
});

describe('a packed session', () => {
  const bytes = fc.uint8Array({ maxLength: 50 });
  property([fc.string(), bytes, fc.array(fc.option(bytes)), fc.dictionary(fc.string(), fc.integer())])(
    'comes back as it was, from any place in memory',
    (update, pcm, frames, given) => {
      const { frameBytes: _own, ...settings } = given;
      if (Object.hasOwn(settings, '__proto__')) return;
      const body = packLivePlan({ update, pcm, frames, settings });
      const shared = new Uint8Array(new SharedArrayBuffer(body.length + 7), 7);
      shared.set(body);
      const back = unpackLivePlan(shared);
      expect(Buffer.from(back.pcm).equals(Buffer.from(pcm))).toBe(true);
      expect(back.frames.map((frame) => frame && [...frame])).toEqual(
        frames.map((frame) => frame && [...frame]),
      );
      expect(back.settings).toEqual(settings);
      expect(back.update).toBe(Buffer.from(update).toString());
    },
  );

  it('is told from other bytes, and from half of one', () => {
    expect(() => unpackLivePlan(Buffer.from('{"model":"m","input":"x"}'))).toThrow(/no packed session/);
    const body = packLivePlan({ update: 'u', pcm: new Uint8Array(9), frames: [], settings: {} });
    expect(() => unpackLivePlan(body.subarray(0, body.length - 1))).toThrow(/cut off/);
  });
});

describe('the address of a session', () => {
  const parameters = { duplex: '1', model: 'a/b' };
  it.each([
    ['http://h:1', 'ws://h:1/v1/realtime?duplex=1&model=a%2Fb&autostart=0'],
    ['https://h/', 'wss://h/v1/realtime?duplex=1&model=a%2Fb&autostart=0'],
    ['ws://h/v1/duplex', 'ws://h/v1/duplex?duplex=1&model=a%2Fb&autostart=0'],
    [
      'wss://u:p@[::1]:9/v1/realtime?duplex=on&autostart=1&x=y',
      'wss://u:p@[::1]:9/v1/realtime?duplex=on&autostart=0&x=y&model=a%2Fb',
    ],
  ])('%s', (base, url) => {
    expect(realtimeUrl(base, parameters, { autostart: '0' })).toBe(url);
  });

  it.each(['ftp://h/', 'h:8000', '', '/v1/realtime'])('%s is none', (base) => {
    expect(() => realtimeUrl(base, {})).toThrow(UsageError);
    expect(() => realtimeUrl(base, {})).toThrow(`Unsupported Realtime URL: '${base}'`);
  });
});
