import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { PlaybackAcks } from './playback-acks.ts';
import { PlaybackQueue } from './playback-queue.ts';
import { transcriptChunks } from './transcript.ts';
import { assembleWav } from './wav-assembly.ts';

const sound = (samples: number, fill = 1) => new Uint8Array(samples * 2).fill(fill);
const spans = (queue: PlaybackQueue) =>
  queue.segments.map(({ responseId, startMs, endMs }) => [responseId, startMs, endMs]);

describe('the playback queue', () => {
  it('plays one thing after the other, whoever says it', () => {
    const queue = new PlaybackQueue();
    queue.push('a', sound(2400), 1000);
    queue.push('b', sound(2400), 1050);
    queue.push('a', sound(1200), 1300);
    expect(spans(queue)).toEqual([
      ['a', 1000, 1100],
      ['b', 1100, 1200],
      ['a', 1300, 1350],
    ]);
    expect(queue.endMs).toBe(1350);
  });

  it('cuts what is playing and drops what is to come when it is cleared', () => {
    const queue = new PlaybackQueue();
    queue.push('a', sound(2400), 1000);
    queue.push('a', sound(2400), 1000);
    queue.push('b', sound(2400), 1000);
    queue.clear('a', 1050.02);
    // 50.02 ms are 1200.48 samples.
    expect(queue.segments.map(({ pcm }) => pcm.length / 2)).toEqual([1200, 2400]);
    expect(spans(queue)).toEqual([
      ['a', 1000, 1050.02],
      ['b', 1200, 1300],
    ]);
    expect(queue.push('a', sound(10), 1060)).toBe(0);
    expect(queue.truncated).toBe(true);
    expect(queue.endMs).toBe(1300);
    expect(queue.receivedBytes).toBe(3 * 4800);
  });

  it('is free from the moment of the clear where nothing is left', () => {
    const queue = new PlaybackQueue();
    queue.push('a', sound(24_000), 1000);
    queue.clear('a', 1500);
    queue.push('b', sound(2400), 1400);
    expect(spans(queue).at(-1)).toEqual(['b', 1500, 1600]);
  });

  it('loses nothing to a clear that comes after the end, or names another', () => {
    const queue = new PlaybackQueue();
    queue.push('a', sound(2400), 1000);
    queue.clear('a', 1100);
    queue.clear('x', 1010);
    expect(queue.truncated).toBe(false);
    expect(queue.push('a', sound(2400), 1200)).toBe(4800);
  });

  const step = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    samples: fc.integer({ min: 1, max: 9600 }),
    waitMs: fc.integer({ min: 0, max: 300 }),
    act: fc.constantFrom('push', 'push', 'push', 'clear', 'complete', 'ask'),
  });
  property([fc.array(step, { maxLength: 60 })])(
    'never plays two things at once, and acks neither fall nor pass what was played',
    (steps) => {
      const queue = new PlaybackQueue();
      const acks = new PlaybackAcks(queue);
      const last = new Map<string, number>();
      let now = 1000;
      for (const { id, samples, waitMs, act } of steps) {
        now += waitMs;
        if (act === 'push') queue.push(id, sound(samples), now);
        else if (act === 'clear') queue.clear(id, now);
        else if (act === 'complete') queue.complete(id);
        for (const { responseId, playedMs } of acks.due(now)) {
          expect(playedMs).toBeGreaterThanOrEqual(last.get(responseId) ?? 0);
          last.set(responseId, playedMs);
        }
        const ordered = [...queue.segments].sort((a, b) => a.startMs - b.startMs);
        for (const [i, segment] of ordered.entries())
          expect(segment.startMs).toBeGreaterThanOrEqual((ordered[i - 1]?.endMs ?? 0) - 1e-6);
      }
      for (const [id, playedMs] of last) {
        const samples = queue.segments
          .filter(({ responseId }) => responseId === id)
          .reduce((sum, { pcm }) => sum + pcm.length / 2, 0);
        expect(playedMs).toBeLessThanOrEqual(Math.ceil(samples / 24) + 1);
      }
    },
  );
});

describe('playback acks', () => {
  it('begin at once, step by 200 ms, and end with all of it', () => {
    const queue = new PlaybackQueue();
    const acks = new PlaybackAcks(queue);
    queue.push('a', sound(12_000), 1000);
    const said = [1000, 1100, 1199, 1200, 1399, 1450, 1500, 1600].map((at) =>
      acks.due(at).map(({ playedMs }) => playedMs),
    );
    expect(said).toEqual([[0], [], [], [200], [], [450], [], []]);
    queue.complete('a');
    expect(acks.due(1700)).toEqual([{ responseId: 'a', playedMs: 500 }]);
    expect(acks.due(1800)).toEqual([]);
  });

  it('round part of a segment as a player does', () => {
    const queue = new PlaybackQueue();
    queue.push('a', sound(24_000), 1000);
    // 300.98 ms are 7223.52 samples: rounded 7224, which are 301 ms.
    expect(new PlaybackAcks(queue).due(1300.98)).toEqual([{ responseId: 'a', playedMs: 301 }]);
  });
});

describe('the output file', () => {
  it('is as long as the input, later sound over earlier, the rest clipped and counted', () => {
    const segment = (responseId: string, startMs: number, samples: number, fill: number) => ({
      responseId,
      pcm: sound(samples, fill),
      startMs,
      endMs: startMs + samples / 24,
    });
    const { wav, clippedBytes, writtenBytes } = assembleWav(
      [
        segment('early', 900, 4800, 1),
        segment('late', 1100, 2400, 2),
        segment('over', 1950, 2400, 3),
        segment('never', 2500, 100, 4),
      ],
      1000,
      1,
    );
    const pcm = wav.subarray(44);
    expect(pcm.length).toBe(48_000);
    // What began before the input lies at its start: 200 ms, and the later sound over its second half.
    expect([pcm[0], pcm[4799], pcm[4800], pcm[9599], pcm[9600]]).toEqual([1, 1, 2, 2, 0]);
    expect([pcm[45_599], pcm[45_600], pcm[47_999]]).toEqual([0, 3, 3]);
    expect(clippedBytes).toBe(2400 + 200);
    expect(Object.fromEntries(writtenBytes)).toEqual({ early: 9600, late: 4800, over: 2400, never: 0 });
  });
});

describe('the transcript', () => {
  const segments = [
    { responseId: 'b', pcm: sound(10), startMs: 1500, endMs: 1700.1234567 },
    { responseId: 'a', pcm: sound(10), startMs: 1700.1234567, endMs: 4000 },
    { responseId: 'late', pcm: sound(10), startMs: 3000, endMs: 3100 },
    { responseId: 'mute', pcm: sound(10), startMs: 1000, endMs: 1100 },
  ];
  it('has responses in order of creation, those that spoke in time', () => {
    const texts = new Map([
      ['a', ' first '],
      ['b', 'second'],
      ['late', 'x'],
      ['mute', '  '],
      ['silent', 'y'],
    ]);
    const chunks = transcriptChunks(['a', 'b', 'late', 'mute', 'silent'], texts, {
      segments,
      streamStartMs: 1000,
      horizonS: 2,
    });
    expect(chunks).toEqual([
      { responseId: 'a', text: 'first', timestampS: [0.700123, 2] },
      { responseId: 'b', text: 'second', timestampS: [0.5, 0.700123] },
    ]);
  });
});
