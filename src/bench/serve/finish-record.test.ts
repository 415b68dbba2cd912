import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventKinds, eventLogOf } from '../../records/event-log.ts';
import { exampleRecord } from '../../records/examples.suite.ts';
import type { AudioFacts, RequestRecord } from '../../records/request-record.ts';
import { finishRecord } from './finish-record.ts';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../media/__fixtures__/${name}`, import.meta.url));
const undecoded: AudioFacts = {
  format: 'mp3',
  sampleRateHz: null,
  channels: null,
  sampleBytes: null,
  frames: null,
  durationS: null,
  bytes: 100,
  droppedChunks: 0,
  note: null,
};
const audioOnly = {
  text: '',
  outputTokens: null,
  audio: undecoded,
  events: eventLogOf([{ kind: eventKinds.audio }]),
};

const finish = (format: string, bytes: Buffer, changes: Partial<RequestRecord> = {}) =>
  finishRecord(
    { record: exampleRecord({ ...audioOnly, ...changes }), encodedAudio: { format, bytes } },
    null,
  );

describe('a reply of encoded audio alone', () => {
  it('gets its length', async () => {
    const record = await finish('mp3', fixture('tone-24k-mono.mp3'));
    expect(record.outcome).toEqual({ ok: true });
    expect(record.audio).toMatchObject({ sampleRateHz: 24_000, frames: 30_000, durationS: 1.25, note: null });
  });

  it.each([
    ['junk', 'mp3', Buffer.from('this is not mp3'.repeat(100)), 'malformed', /could not be decoded/],
    ['half a FLAC', 'flac', half('tone-24k-mono.flac'), 'malformed', /cut off.*7200 samples/],
    [
      'no more than the head of an Ogg',
      'opus',
      fixture('tone-48k-mono.opus').subarray(0, 900),
      'empty',
      /no sample/,
    ],
  ] as const)('is a failure when it is %s', async (_, format, bytes, kind, message) => {
    const { outcome, attempts } = await finish(format, bytes);
    expect(outcome).toMatchObject({ ok: false, kind, status: 200, message: expect.stringMatching(message) });
    if (outcome.ok) throw new Error('it succeeded');
    const [, base64 = ''] = outcome.body?.split(',') ?? [];
    expect(Buffer.from(base64, 'base64')).toEqual(Buffer.from(bytes.subarray(0, 1024)));
    expect(attempts.at(-1)?.error).toBe(outcome.message);
  });

  it('that may have been cut is a success with a note', async () => {
    const opus = fixture('tone-48k-mono.opus');
    const record = await finish('opus', opus.subarray(0, opus.lastIndexOf('OggS')));
    expect(record.outcome).toEqual({ ok: true });
    expect(record.audio?.note).toMatch(/last Ogg page is missing/);
    expect(record.audio?.durationS).toBeGreaterThan(0);
  });

  it('in a format without a decoder here is a success of unknown length', async () => {
    const m4a = Buffer.concat([Buffer.from([0, 0, 0, 32]), Buffer.from('ftypM4A '), Buffer.alloc(200)]);
    const record = await finish('mp4', m4a);
    expect(record.outcome).toEqual({ ok: true });
    expect(record.audio).toMatchObject({
      durationS: null,
      note: expect.stringMatching(/could not be decoded/),
    });
  });
});

describe('undecodable audio', () => {
  it.each([
    ['text', { text: 'hello' }],
    ['reasoning', { events: eventLogOf([{ kind: eventKinds.reasoning }, { kind: eventKinds.audio }]) }],
  ])('beside %s is a note', async (_, changes) => {
    const record = await finish('mp3', Buffer.from('junk'), changes);
    expect(record.outcome).toEqual({ ok: true });
    expect(record.audio).toMatchObject({
      durationS: null,
      note: expect.stringMatching(/could not be decoded/),
    });
  });

  it('leaves an earlier failure as it is', async () => {
    const outcome = { ok: false, kind: 'reset', status: 200, message: 'cut', body: null } as const;
    expect((await finish('mp3', Buffer.from('junk'), { outcome })).outcome).toEqual(outcome);
  });
});

function half(name: string): Buffer {
  const bytes = fixture(name);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
