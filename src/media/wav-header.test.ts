import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { parseWavHeader } from './wav-header.ts';

const u16 = (value: number): number[] => [value & 255, (value >> 8) & 255];
const u32 = (value: number): number[] => [...u16(value & 65535), ...u16(value >>> 16)];
const id = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

type Parts = { riffSize?: number; fmt?: number[]; before?: number[]; dataSize?: number; riff?: string };

/** 16-bit mono 24 kHz unless told otherwise, with `samples` bytes behind the header. */
function wav(samples: number, parts: Parts = {}): Uint8Array {
  const fmt = parts.fmt ?? [...u16(1), ...u16(1), ...u32(24_000), ...u32(48_000), ...u16(2), ...u16(16)];
  const chunks = [
    ...(parts.before ?? []),
    ...id('fmt '),
    ...u32(fmt.length),
    ...fmt,
    ...id('data'),
    ...u32(parts.dataSize ?? samples),
    ...new Array<number>(samples).fill(7),
  ];
  const size = parts.riffSize ?? chunks.length + 4;
  return Uint8Array.from([...id(parts.riff ?? 'RIFF'), ...u32(size), ...id('WAVE'), ...chunks]);
}

const parse = (bytes: Uint8Array) => parseWavHeader(bytes, bytes.length);

describe('a WAV header', () => {
  test('plain PCM', () => {
    expect(parse(wav(480))).toEqual({
      ok: true,
      formatTag: 1,
      channels: 1,
      sampleRateHz: 24_000,
      bitsPerSample: 16,
      dataOffset: 44,
      dataBytes: 480,
      announcedBytes: 480,
    });
  });

  test('from its first 44 bytes alone', () => {
    const bytes = wav(480);
    expect(parseWavHeader(bytes.subarray(0, 44), bytes.length)).toEqual(parse(bytes));
  });

  test('EXTENSIBLE names its sub-format', () => {
    const guidTail = [0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113];
    const fmt = [
      ...[...u16(0xfffe), ...u16(2), ...u32(48_000), ...u32(384_000), ...u16(8), ...u16(32)],
      ...[...u16(22), ...u16(32), ...u32(3), ...u16(3), ...guidTail],
    ];
    expect(parse(wav(80, { fmt }))).toMatchObject({
      formatTag: 3,
      channels: 2,
      sampleRateHz: 48_000,
      bitsPerSample: 32,
      dataBytes: 80,
    });
  });

  test('a LIST chunk of odd length before the format', () => {
    const before = [...id('LIST'), ...u32(3), 1, 2, 3, 0];
    expect(parse(wav(10, { before }))).toMatchObject({ ok: true, dataOffset: 56, dataBytes: 10 });
  });

  test.each([
    ['unknown, as ffmpeg writes it to a pipe', { dataSize: 0xffffffff, riffSize: 0xffffffff }, 100],
    ['unknown, left at 0', { dataSize: 0, riffSize: 0 }, 100],
    ['too large', { dataSize: 0x7fffffff }, 100],
    ['really 0: chunks after it are no samples', { dataSize: 0 }, 0],
    ['less than what follows', { dataSize: 60 }, 60],
  ])('length %s', (_, parts, dataBytes) => {
    expect(parse(wav(100, parts))).toMatchObject({ ok: true, dataBytes });
  });

  test('RF64 with its long length', () => {
    const before = [
      ...id('ds64'),
      ...u32(28),
      ...u32(0),
      ...u32(0),
      ...u32(64),
      ...u32(0),
      ...new Array(12).fill(0),
    ];
    const bytes = wav(100, { riff: 'RF64', riffSize: 0xffffffff, before, dataSize: 0xffffffff });
    expect(parse(bytes)).toMatchObject({ ok: true, dataBytes: 64 });
  });

  test.each([
    ['nothing', new Uint8Array(0), 'not_wav', /0 bytes are too few/],
    ['an MP3', Uint8Array.from([...id('ID3'), ...new Array(40).fill(0)]), 'not_wav', /49 44 33/],
    [
      'MP3 in WAV',
      wav(9, { fmt: [...u16(0x55), ...u16(1), ...u32(8000), ...u32(0), ...u16(1), ...u16(0)] }),
      'unsupported',
      /tag 85/,
    ],
    [
      'no channel',
      wav(9, { fmt: [...u16(1), ...u16(0), ...u32(8000), ...u32(0), ...u16(1), ...u16(16)] }),
      'not_wav',
      /0 channels/,
    ],
    [
      '0 Hz',
      wav(9, { fmt: [...u16(1), ...u16(1), ...u32(0), ...u32(0), ...u16(1), ...u16(16)] }),
      'not_wav',
      /0 Hz/,
    ],
    ['a short format', wav(9, { fmt: u32(1) }), 'not_wav', /format chunk has 4 bytes/],
    ['samples first', wav(9, { before: [...id('data'), ...u32(2), 0, 0] }), 'not_wav', /before the format/],
    ['no samples', wav(0).subarray(0, 36), 'not_wav', /no chunk of samples/],
  ] as const)('refused: %s', (_, bytes, kind, reason) => {
    expect(parse(bytes)).toMatchObject({ ok: false, kind, reason: expect.stringMatching(reason) });
  });

  test('a beginning that is too short says so', () => {
    const bytes = wav(480);
    for (const length of [0, 11, 12, 20, 43])
      expect(parseWavHeader(bytes.subarray(0, length), bytes.length)).toMatchObject({ kind: 'incomplete' });
  });

  property([fc.uint8Array({ maxLength: 80 })])('no bytes make it throw', (tail) => {
    const bytes = Uint8Array.from([...wav(0).subarray(0, 12), ...tail]);
    const header = parse(bytes);
    if (header.ok) expect(header.dataOffset + header.dataBytes).toBeLessThanOrEqual(bytes.length);
  });
});
