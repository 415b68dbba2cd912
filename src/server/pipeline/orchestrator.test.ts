import { describe, expect, test } from 'vitest';
import type { StageEngine } from '../engine/stage-engine.ts';
import { chatTask } from '../engine/stage-task.ts';
import { overrideStages } from '../model/deploy-pipeline.ts';
import { qwen3Omni } from '../model/qwen3-omni.ts';
import { textLlm } from '../model/text-llm.ts';
import type { Orchestrator } from './orchestrator.ts';
import { StagePool } from './stage-pool.ts';
import { virtualPipeline, withoutNoise } from './virtual-pipeline.suite.ts';

function idle(orchestrator: Orchestrator): void {
  const { requests, stages, payloadsInFlight } = orchestrator.stats();
  expect(requests).toBe(0);
  expect(payloadsInFlight).toBe(0);
  for (const stage of stages) expect(stage).toMatchObject({ running: 0, waiting: 0, waitingForChunk: 0 });
}

const fixedText = (maxNumSeqs: number) =>
  overrideStages(textLlm, {
    0: {
      ttft: { baseMs: 100, perInputTokenMs: 0, sd: 0 },
      step: { nativeMs: 20, sd: 0, outlierP: 0 },
      batchSlope: 0,
      maxNumSeqs,
    },
  }).pipeline;

describe('a pipeline of stages', () => {
  test('all requests of many at once run to their end and leave nothing behind', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(qwen3Omni);
    const runs = Array.from({ length: 20 }, () => submit({ promptTokens: 100, params: { maxTokens: 50 } }));
    expect(orchestrator.stats().requests).toBe(20);
    scheduler.runUntil();
    for (const run of runs) {
      expect(run.failure).toBeNull();
      expect(run.metrics()['0']?.num_tokens_out).toBe(50);
      expect(run.finishedMs).not.toBeNull();
    }
    idle(orchestrator);
  });

  test('text alone never enters the later stages', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(qwen3Omni);
    const seen = submit({ params: { maxTokens: 10 }, finalStageIds: [0] });
    const before = orchestrator.stats();
    expect(before.stages.map(({ waitingForChunk }) => waitingForChunk)).toEqual([0, 0, 0]);
    scheduler.runUntil();
    expect(Object.keys(seen.metrics())).toEqual(['0']);
    expect(orchestrator.stats().transfers).toEqual([]);
    idle(orchestrator);
  });

  test('the KV cache of a language stage holds what was read and made', () => {
    const pipeline = overrideStages(withoutNoise(qwen3Omni), { 0: { kv_cache_tokens: 10_000 } }).pipeline;
    const { scheduler, orchestrator, submit } = virtualPipeline(pipeline);
    const usage = (): (number | undefined)[] =>
      orchestrator.stats().stages.map((stage) => stage.kvCacheUsage);
    expect(usage()).toEqual([0, 0, undefined]);
    const runs = [submit({ promptTokens: 2500 }), submit({ promptTokens: 500 })];
    scheduler.runUntil(6000);
    const made = runs.reduce((sum, run) => sum + (run.metrics()['0']?.num_tokens_out ?? 0), 0);
    expect(made).toBeGreaterThan(100);
    expect(usage()[0]).toBeCloseTo((3000 + made) / 10_000, 9);
    for (const { run } of runs) run.abort();
    expect(usage()[0]).toBe(0);
  });

  test('what was read while it came in is not read again, and counts all the same', () => {
    const { scheduler, submit } = virtualPipeline(withoutNoise(qwen3Omni));
    const firstMs = (readTokens: number): number => {
      const seen = submit({ promptTokens: 2500, readTokens, params: { maxTokens: 2 }, finalStageIds: [0] });
      scheduler.runUntil();
      expect(seen.metrics()['0']).toMatchObject({ num_tokens_in: 2500 });
      return (seen.outputs[0]?.timeMs ?? Number.NaN) - seen.acceptedMs;
    };
    // 10.8 ms, and 0.322 ms for each token that is left.
    expect(firstMs(0)).toBeCloseTo(10.8 + 2500 * 0.322, 6);
    expect(firstMs(2000)).toBeCloseTo(10.8 + 500 * 0.322, 6);
    expect(firstMs(2500)).toBeCloseTo(10.8, 6);
  });

  test('downstream stages wait for their first chunk from the moment of arrival', () => {
    const { orchestrator, submit } = virtualPipeline(qwen3Omni);
    submit();
    expect(orchestrator.stats().stages.map(({ waitingForChunk }) => waitingForChunk)).toEqual([0, 1, 1]);
  });

  test('speech alone ends with the speech, and the thinker is stopped', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(withoutNoise(qwen3Omni));
    const seen = submit({ finalStageIds: [2] });
    scheduler.runUntil();
    expect(seen.outputs.every(({ stageId }) => stageId === 2)).toBe(true);
    // 414 frames end after some 8.8 s, when the thinker has written about 413 of its 900 tokens.
    expect(seen.metrics()['0']?.num_tokens_out).toBeGreaterThan(400);
    expect(seen.metrics()['0']?.num_tokens_out).toBeLessThan(430);
    idle(orchestrator);
  });

  test.each([0, 500, 900, 1200, 1500, 5000, 9000])('an abort after %i ms frees every stage', (afterMs) => {
    const { scheduler, orchestrator, submit } = virtualPipeline(qwen3Omni);
    const seen = submit();
    const other = submit({ params: { maxTokens: 20 }, finalStageIds: [0] });
    scheduler.runUntil(seen.acceptedMs + afterMs);
    seen.run.abort();
    const outputs = seen.outputs.length;
    scheduler.runUntil();
    expect(seen.outputs.length).toBe(outputs);
    expect(seen.finishedMs).toBeNull();
    expect(other.finishedMs).not.toBeNull();
    idle(orchestrator);
  });

  test('hand-offs are counted: one per thinker token, one per codec chunk', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(qwen3Omni);
    submit({ params: { maxTokens: 10 } });
    scheduler.runUntil();
    const [thinkerOut, talkerOut] = orchestrator.stats().transfers;
    expect(thinkerOut).toMatchObject({ edge: { from: 0, to: 1 }, transfers: 10, bytes: 10 * 8192 });
    // 414 frames: 18, and then 25 at a time.
    expect(talkerOut).toMatchObject({ edge: { from: 1, to: 2 }, transfers: 17, bytes: 414 * 64 });
  });

  test('without async chunks each stage starts when the one before it has finished', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(withoutNoise(qwen3Omni), {
      asyncChunk: false,
    });
    const seen = submit({ promptTokens: 100, params: { maxTokens: 100 } });
    expect(orchestrator.stats().stages.map(({ waitingForChunk }) => waitingForChunk)).toEqual([0, 0, 0]);
    scheduler.runUntil();
    const thinkerEnd = 10.8 + 0.322 * 100 + 99 * 19.41;
    const talkerEnd = thinkerEnd + 213 + 413 * 12.2;
    expect(seen.metrics()['1']?.serving_time_to_first_output_ms).toBeCloseTo(thinkerEnd + 213, 3);
    expect(seen.metrics()['2']?.serving_time_to_first_output_ms).toBeCloseTo(talkerEnd + 16, 3);
    const sounds = seen.outputs.filter(({ stageId }) => stageId === 2);
    expect(sounds.map(({ output }) => output.audio?.samples)).toEqual([1920 * 414 - 555]);
    idle(orchestrator);
  });
});

describe('a batch', () => {
  test('each sequence gets one token per step, and more than fit wait in order', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(fixedText(2));
    const runs = Array.from({ length: 3 }, () => submit({ params: { maxTokens: 5 } }));
    expect(orchestrator.stats().stages[0]).toMatchObject({ running: 2, waiting: 1 });
    scheduler.runUntil();
    const started = runs[0]?.acceptedMs ?? 0;
    const times = runs.map((run) => run.outputs.map(({ timeMs }) => timeMs - started));
    const alone = [100, 120, 140, 160, 180];
    expect(times).toEqual([alone, alone, alone.map((ms) => ms + 180)]);
  });

  test('TPOT and TTFT grow with the number that run', () => {
    const crowded = overrideStages(fixedText(64), { 0: { batchSlope: { step: 0.06, ttft: 0.2 } } }).pipeline;
    const { scheduler, submit } = virtualPipeline(crowded);
    const runs = Array.from({ length: 10 }, () => submit({ params: { maxTokens: 200 } }));
    scheduler.runUntil();
    const last = runs[9]?.metrics()['0'];
    // c = 10: TTFT × (1 + 0.2·9), and steps × (1 + 0.06·9) while all ten run.
    expect(last?.serving_time_to_first_output_ms).toBeCloseTo(280, 6);
    expect(last?.inter_output_latencies_ms?.[0]).toBeCloseTo(30.8, 3);
  });

  test('lateness of the machine does not add up: due times follow from due times', () => {
    const { scheduler, submit } = virtualPipeline(fixedText(2));
    const seen = submit({ params: { maxTokens: 50 } });
    scheduler.runUntil();
    const dues = seen.outputs.map(({ output }) => output.dueMs - seen.acceptedMs);
    expect(dues.at(-1)).toBeCloseTo(100 + 49 * 20, 6);
  });
});

describe('replicas', () => {
  const twoReplicas = overrideStages(textLlm, { 0: { num_replicas: 2 } }).pipeline;

  test('take requests in turn', () => {
    const { orchestrator, submit } = virtualPipeline(twoReplicas);
    for (let i = 0; i < 5; i += 1) submit();
    expect(orchestrator.stats().stages.map(({ running }) => running)).toEqual([3, 2]);
  });

  test('one that dies fails its own requests, and the other takes what comes after', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(twoReplicas);
    const runs = Array.from({ length: 4 }, () => submit({ params: { maxTokens: 20 } }));
    scheduler.runUntil(1050);
    expect(orchestrator.removeReplica(0, 1, 'it was killed.')).toBe(true);
    const lost = { message: 'Replica 1 of stage 0 (llm) was lost: it was killed.', status: 500 };
    expect(runs.map(({ failure }) => failure)).toEqual([null, lost, null, lost]);
    expect(orchestrator.isAlive()).toBe(true);
    const after = [submit(), submit()];
    expect(orchestrator.stats().stages.map(({ alive, running }) => [alive, running])).toEqual([
      [true, 4],
      [false, 0],
    ]);
    scheduler.runUntil();
    for (const run of [runs[0], runs[2], ...after]) expect(run?.finishedMs).not.toBeNull();
    idle(orchestrator);
  });

  test('a request that has left the stage survives the death of its replica', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(qwen3Omni);
    const long = [submit(), submit(), submit()][2];
    scheduler.runUntil(1000 + 30_000);
    expect(long?.metrics()['0']?.finish_reason).toBe('length');
    orchestrator.removeReplica(0, 0, 'gone.');
    expect(orchestrator.isAlive()).toBe(false);
    scheduler.runUntil();
    expect(long?.failure).toBeNull();
    expect(long?.finishedMs).not.toBeNull();
    expect(submit().failure).toEqual({ message: 'Stage 0 (thinker) has no live replica.', status: 500 });
    idle(orchestrator);
  });

  test('a stage that died is served again once a replica comes back', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(textLlm);
    const before = submit();
    expect(orchestrator.killReplica(0)).toBe(0);
    expect(orchestrator.killReplica(0)).toBeNull();
    expect(before.failure?.status).toBe(500);
    expect(submit().failure?.message).toContain('no live replica');
    expect(orchestrator.restoreReplica(0, 0)).toBe(true);
    expect(orchestrator.restoreReplica(0, 0)).toBe(false);
    expect(orchestrator.isAlive()).toBe(true);
    const after = submit();
    scheduler.runUntil();
    expect(after.finishedMs).not.toBeNull();
    idle(orchestrator);
  });

  test('slots are never renumbered: a hole is filled by name, else first', () => {
    const engine = (): StageEngine => ({
      kind: 'ar',
      submit: () => ({ feed: () => {}, abort: () => {} }),
      stats: () => ({ running: 0, waiting: 0, waitingForChunk: 0 }),
      isAlive: () => true,
      close: () => {},
    });
    const stage = textLlm.stages[0];
    if (stage === undefined) throw new Error('no stage');
    const pool = new StagePool(stage, [engine(), engine(), engine(), engine()]);
    for (const id of [0, 2, 3]) pool.removeReplica(id, 'gone.');
    expect(pool.addReplica(engine(), 2)).toBe(2);
    expect(pool.addReplica(engine(), 2)).toBe(0);
    expect(pool.addReplica(engine())).toBe(3);
    expect(pool.addReplica(engine())).toBe(4);
    expect(pool.stats().map(({ replicaId, alive }) => [replicaId, alive])).toEqual(
      [0, 1, 2, 3, 4].map((id) => [id, true]),
    );
  });

  test('an engine that reports its own death is evicted', () => {
    const stage = textLlm.stages[0];
    if (stage === undefined) throw new Error('no stage');
    let die = (_reason: string): void => {};
    const engine: StageEngine = {
      kind: 'ar',
      submit: () => ({ feed: () => {}, abort: () => {} }),
      stats: () => ({ running: 1, waiting: 0, waitingForChunk: 0 }),
      isAlive: () => true,
      onDeath: (tell) => {
        die = tell;
      },
      close: () => {},
    };
    const pool = new StagePool(stage, [engine]);
    const failures: string[] = [];
    const listener = {
      onOutput: () => {},
      onProgress: () => {},
      onFailure: ({ message }: { message: string }) => failures.push(message),
    };
    pool.submit(
      {
        id: 'a',
        acceptedMs: 0,
        promptTokens: 1,
        params: { maxTokens: 2, minTokens: 0, ignoreEos: true, stop: [] },
        task: chatTask,
        source: null,
        pace: 1,
        hasUpstream: false,
        fullPayload: false,
      },
      listener,
    );
    die('its heartbeats stopped.');
    die('again.');
    expect(failures).toEqual(['Replica 0 of stage 0 (llm) was lost: its heartbeats stopped.']);
    expect(pool.hasLiveReplica()).toBe(false);
  });
});
