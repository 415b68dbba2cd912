import { expect, it } from 'vitest';
import { audioChunks, requestOf, textChunks } from '../../metrics/metric-records.suite.ts';
import { LiveWindow } from './live-window.ts';

const reply = (genMs: number) =>
  requestOf(
    { startMs: 100, events: [...textChunks([120, 130]), ...audioChunks([[300, 240]])], endMs: 400 },
    {
      responses: [
        {
          id: null,
          finishReason: null,
          usage: null,
          stages: { 10: { stage_gen_time_ms: genMs }, 2: { stage_name: 'talker', stage_gen_time_ms: 7 } },
          stageDurations: {},
          peakMemoryMb: null,
        },
      ],
    },
  );

it('holds the last seconds, and forgets what is older', () => {
  const window = new LiveWindow(1000);
  window.add(reply(10), 0);
  window.add(reply(30), 500);
  window.add(
    { ...reply(99), outcome: { ok: false, kind: 'reset', status: null, message: '', body: null } },
    500,
  );
  expect(window.latencies(600)).toEqual([
    { label: 'TTFT', p50Ms: 20, p99Ms: 20 },
    { label: 'audio TTFP', p50Ms: 200, p99Ms: 200 },
    { label: 'E2EL', p50Ms: 300, p99Ms: 300 },
  ]);
  expect(window.stages(600)).toEqual([
    { name: 'talker', meanMs: 7 },
    { name: 'stage 10', meanMs: 20 },
  ]);
  expect(window.stages(1200)[1]).toEqual({ name: 'stage 10', meanMs: 30 });
  expect(window.latencies(5000)).toEqual([]);
});

it('keeps the newest of very many', () => {
  const window = new LiveWindow(1000);
  for (let i = 0; i < 5000; i += 1) window.add(reply(i), 10);
  expect(window.stages(10)[1]?.meanMs).toBe((5000 - 1024 + 4999) / 2);
});
