import { describe, expect, test } from 'vitest';
import { randomStream } from '../../foundation/random.ts';
import { type DuplexLaws, drawQuantile, duplexCalibrations } from './duplex-laws.ts';
import { inside, VirtualDuplex } from './virtual-duplex.suite.ts';

function statistics(values: readonly number[]): { mean: number; p50: number; p99: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, p50: at(0.5), p99: at(0.99) };
}

/** Holds a figure to what was published, within a share of it. */
function expectNear(actual: number, published: number, share: number): void {
  expect(Math.abs(actual / published - 1)).toBeLessThan(share);
}

describe('the published run of OmniInteract', () => {
  /** A minute and a half in each of forty sessions. */
  function rows() {
    const world = new VirtualDuplex();
    const ttftMs: number[] = [];
    const ttfpMs: number[] = [];
    const rtf: number[] = [];
    const tpotMs: number[] = [];
    const streamTtftMs: number[] = [];
    for (let session = 0; session < 40; session += 1) {
      const client = world
        .connect()
        .open({ extra_body: { auto_response: true, return_stage_metrics: true } });
      const startMs = world.scheduler.nowMs();
      for (let second = 0; second < 90; second += 1) client.stream(1000, { amplitude: 0 });
      world.pass(20_000);
      for (const created of client.of('response.created')) {
        const own = (type: string) =>
          client.of(type).filter(({ response_id: id }) => id === created.response_id);
        const audio = own('response.output_audio.delta');
        const first = audio[0];
        const last = audio.at(-1);
        const [done] = own('response.done');
        if (first === undefined || last === undefined || done === undefined) continue;
        const metrics = inside(done, 'response', 'metadata', 'response_request_metrics');
        ttftMs.push(Number(inside(metrics, 'ttft_ms')));
        ttfpMs.push(first.atMs - created.atMs);
        rtf.push((last.atMs - created.atMs) / Number(inside(last, 'metadata', 'audio_duration_ms')));
        tpotMs.push(Number(inside(done, 'response', 'metadata', 'stage_metrics', '0', 'vllm_tpot_ms')));
      }
      const [firstAudio] = client.of('response.output_audio.delta');
      if (firstAudio !== undefined) streamTtftMs.push(firstAudio.atMs - startMs);
      client.say({ type: 'session.close' });
    }
    return { ttftMs, ttfpMs, rtf, tpotMs, streamTtftMs };
  }

  test('is met in its means, medians and tails', () => {
    const seen = rows();
    expect(seen.rtf.length).toBeGreaterThan(400);
    for (const times of [statistics(seen.ttftMs), statistics(seen.ttfpMs)]) {
      expectNear(times.mean, 547.8, 0.05);
      expectNear(times.p50, 492, 0.05);
      expectNear(times.p99, 968, 0.08);
    }
    const rtf = statistics(seen.rtf);
    expectNear(rtf.mean, 0.977, 0.05);
    expectNear(rtf.p50, 0.966, 0.05);
    expectNear(rtf.p99, 1.43, 0.08);
    const tpot = statistics(seen.tpotMs);
    expectNear(tpot.mean, 11.46, 0.05);
    expectNear(tpot.p50, 10.98, 0.05);
    expectNear(tpot.p99, 14.24, 0.08);
    expectNear(statistics(seen.streamTtftMs).mean, 2693, 0.06);
  });
});

test.each([
  ['omniinteract', 547.8, 492, 968, 0.977, 11.46],
  ['rtd_ocr', 341, 308, 417, 0.49, 11.99],
] as const)('%s: the law has the published mean', (name, mean, p50, p99, rtf, tpot) => {
  const laws: DuplexLaws = duplexCalibrations[name];
  const random = randomStream(1, 'law');
  const draw = (law: DuplexLaws['rtf']) =>
    Array.from({ length: 40_000 }, () => drawQuantile(law, random.uniform()));
  const ttft = statistics(draw(laws.ttftMs));
  expectNear(ttft.mean, mean, 0.01);
  expectNear(ttft.p50, p50, 0.01);
  expectNear(ttft.p99, p99, 0.01);
  expectNear(statistics(draw(laws.rtf)).mean, rtf, 0.01);
  expectNear(statistics(draw(laws.tpotMs)).mean, tpot, 0.01);
});

test('the same seed says the same', () => {
  const said = () => {
    const world = new VirtualDuplex();
    const client = world.connect().open();
    client.stream(5000);
    world.pass(20_000);
    return client.of('response.output_audio_transcript.delta').map(({ delta, atMs }) => [delta, atMs]);
  };
  expect(said()).toEqual(said());
  expect(said().length).toBeGreaterThan(0);
});
