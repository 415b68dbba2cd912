import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import type { StageTask } from '../engine/stage-task.ts';
import { bagel } from '../model/bagel.ts';
import { overrideStages } from '../model/deploy-pipeline.ts';
import { miniCpmO } from '../model/minicpm-o.ts';
import { pipelines } from '../model/pipeline-registry.ts';
import { qwen3Omni, qwen3OmniPd } from '../model/qwen3-omni.ts';
import { textLlm } from '../model/text-llm.ts';
import { closedLoop } from './closed-loop.suite.ts';
import type { Orchestrator } from './orchestrator.ts';
import type { PipelineDefinition } from './pipeline-definition.ts';
import { type SeenRun, virtualPipeline, withoutNoise } from './virtual-pipeline.suite.ts';

function expectIdle(orchestrator: Orchestrator): void {
  const { requests, stages, payloadsInFlight } = orchestrator.stats();
  expect({ requests, payloadsInFlight }).toEqual({ requests: 0, payloadsInFlight: 0 });
  for (const stage of stages) expect(stage).toMatchObject({ running: 0, waiting: 0, waitingForChunk: 0 });
}

const diffusionFields = {
  prompt: 'a lighthouse',
  negativePrompt: null,
  widthPx: 256,
  heightPx: 256,
  numInferenceSteps: 4,
  guidanceScale: null,
  trueCfgScale: null,
  seed: 1,
  references: [],
  extra: {},
};

/** Something that a pipeline can do. */
function taskFor({ capabilities }: PipelineDefinition): StageTask {
  if (capabilities.includes('videos')) return { ...diffusionFields, kind: 'video', numFrames: 5, fps: 8 };
  if (capabilities.includes('images') || capabilities.includes('edits'))
    return { ...diffusionFields, kind: 'image', count: 2 };
  if (capabilities.includes('speech'))
    return { kind: 'speech', text: 'hello', voice: null, speed: 1, referenceAudioS: null };
  if (capabilities.includes('transcriptions')) return { kind: 'transcribe', audioS: 12, translate: false };
  if (capabilities.includes('embeddings')) return { kind: 'embed', text: 'hello', dimensions: null };
  return { kind: 'chat' };
}

/** What a client got of a run, in the units of the stage metrics. */
function received(run: SeenRun): { tokens: number; samples: number; pictures: number; pixels: number } {
  const total = { tokens: 0, samples: 0, pictures: 0, pixels: 0 };
  for (const { output } of run.outputs) {
    if (output.text !== null) total.tokens += output.units;
    total.samples += (output.audio?.pcm.length ?? 0) / 2;
    if (output.artifact?.kind !== 'images') continue;
    total.pictures += output.artifact.images.length;
    for (const { widthPx, heightPx } of output.artifact.images) total.pixels += widthPx * heightPx;
  }
  return total;
}

describe.each(pipelines.map((pipeline) => ({ name: pipeline.name, pipeline })))('$name', ({ pipeline }) => {
  const task = taskFor(pipeline);

  test('stage totals are what the client got', () => {
    for (const asyncChunk of [true, false]) {
      const virtual = virtualPipeline(pipeline, { asyncChunk });
      const runs = closedLoop(virtual, 6, 3, { promptTokens: 60, params: { maxTokens: 40 }, task });
      for (const run of runs) {
        expect(run.failure).toBeNull();
        const got = received(run);
        const stages = Object.values(run.metrics());
        const sum = (pick: (stage: (typeof stages)[number]) => number | undefined): number =>
          stages.reduce((total, stage) => total + (pick(stage) ?? 0), 0);
        expect(sum((stage) => (stage.final_output_type === 'text' ? stage.num_tokens_out : 0))).toBe(
          got.tokens,
        );
        expect(sum(({ audio_frames }) => audio_frames)).toBe(got.samples);
        expect(sum(({ image_pixels }) => image_pixels)).toBe(got.pixels);
        const images = stages.filter(({ output_unit_type }) => output_unit_type === 'image');
        expect(images.reduce((total, stage) => total + (stage.output_unit_count ?? 0), 0)).toBe(got.pictures);
      }
      expectIdle(virtual.orchestrator);
    }
  });

  test('no output comes before it is due, and stages end with one reason each', () => {
    const virtual = virtualPipeline(pipeline);
    for (const run of closedLoop(virtual, 3, 3, { promptTokens: 60, params: { maxTokens: 40 }, task })) {
      for (const { output, timeMs } of run.outputs) expect(timeMs).toBeGreaterThanOrEqual(output.dueMs);
      for (const stageId of new Set(run.outputs.map((output) => output.stageId))) {
        const reasons = run.outputs
          .filter((output) => output.stageId === stageId)
          .map(({ output }) => output.finishReason);
        expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
        expect(reasons.at(-1)).not.toBeNull();
      }
    }
  });

  property(
    [fc.array(fc.tuple(fc.nat(4000), fc.integer({ min: 0, max: 9000 })), { minLength: 1, maxLength: 40 })],
    {
      numRuns: 5,
    },
  )('clients that leave at any moment leave nothing behind', (clients) => {
    const { scheduler, orchestrator, submit } = virtualPipeline(pipeline);
    const startMs = scheduler.nowMs();
    const events = clients.flatMap(([arriveMs, stayMs], index) => [
      { atMs: arriveMs, index, leaves: false },
      { atMs: arriveMs + stayMs, index, leaves: true },
    ]);
    const runs = new Map<number, SeenRun>();
    for (const { atMs, index, leaves } of events.sort((a, b) => a.atMs - b.atMs || a.index - b.index)) {
      scheduler.runUntil(startMs + atMs);
      if (!leaves) runs.set(index, submit({ promptTokens: 60, params: { maxTokens: 40 }, task }));
      else runs.get(index)?.run.abort();
    }
    expectIdle(orchestrator);
    const heard = [...runs.values()].map(({ outputs }) => outputs.length);
    scheduler.runUntil();
    expect([...runs.values()].map(({ outputs }) => outputs.length)).toEqual(heard);
  });
});

describe('a token budget', () => {
  const reading = (maxNumBatchedTokens: number): PipelineDefinition =>
    overrideStages(textLlm, {
      0: {
        ttft: { baseMs: 0, perInputTokenMs: 1, sd: 0 },
        step: { nativeMs: 10, sd: 0, outlierP: 0 },
        batchSlope: 0,
        max_num_batched_tokens: maxNumBatchedTokens,
      },
    }).pipeline;
  const firstMs = (run: SeenRun): number => (run.outputs[0]?.timeMs ?? Number.NaN) - run.acceptedMs;

  test('lets prompts that fit be read together, and those that do not, in order', () => {
    const { scheduler, submit } = virtualPipeline(reading(200));
    const runs = [100, 100, 50].map((promptTokens) => submit({ promptTokens, params: { maxTokens: 1 } }));
    scheduler.runUntil();
    expect(runs.map(firstMs)).toEqual([100, 100, 150]);
  });

  test('reads a long prompt in pieces', () => {
    const { scheduler, submit } = virtualPipeline(reading(64));
    const long = submit({ promptTokens: 1000, params: { maxTokens: 1 } });
    const short = submit({ promptTokens: 10, params: { maxTokens: 1 } });
    scheduler.runUntil();
    // The short one waits for one piece of the long one, not for all of it.
    expect(firstMs(short)).toBeLessThanOrEqual(64 + 10);
    expect(firstMs(long)).toBeGreaterThanOrEqual(1000);
    expect(firstMs(long)).toBeLessThanOrEqual(1000 + 2 * 64);
  });

  test('an abort gives back what was taken', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(reading(100));
    const gone = submit({ promptTokens: 100, params: { maxTokens: 1 } });
    const next = submit({ promptTokens: 100, params: { maxTokens: 1 } });
    scheduler.runUntil(1030);
    gone.run.abort();
    scheduler.runUntil();
    expect(firstMs(next)).toBe(130);
    expectIdle(orchestrator);
  });
});

describe('a window of active streams', () => {
  test('lets so many requests into the later stages, and the next when one has finished', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline({
      ...withoutNoise(qwen3Omni),
      activeStreamWindow: 1,
    });
    const runs = [submit({ params: { maxTokens: 5 } }), submit({ params: { maxTokens: 5 } })];
    scheduler.runUntil();
    const times = runs.map((run) => ({
      end: run.finishedMs ?? Number.NaN,
      sound: run.outputs.find(({ output }) => output.audio !== null)?.timeMs ?? Number.NaN,
      text: run.outputs.find(({ output }) => output.text !== null)?.timeMs ?? Number.NaN,
    }));
    // Whose chunk comes first gets in.
    const [first, second] = times.sort((a, b) => a.sound - b.sound);
    expect(second?.text).toBeLessThan(first?.end ?? 0);
    expect(second?.sound).toBeGreaterThan(first?.end ?? Number.NaN);
    expectIdle(orchestrator);
  });

  test('is left by a client that goes away, in it or before it', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline({ ...qwen3Omni, activeStreamWindow: 1 });
    const [inside, before, last] = [submit(), submit(), submit()];
    scheduler.runUntil(1000 + 5000);
    // What the others' thinker has made waits in front of the window.
    expect(orchestrator.stats().stages.map(({ outputsQueued }) => outputsQueued > 0)).toEqual([
      true,
      false,
      false,
    ]);
    before?.run.abort();
    inside?.run.abort();
    scheduler.runUntil();
    expect(last?.finishedMs).not.toBeNull();
    expectIdle(orchestrator);
  });
});

describe('guidance', () => {
  const image: StageTask = { ...diffusionFields, kind: 'image', count: 1 };

  test('has its prompts read beside the request’s own, on the same replica, without a trace in the metrics', () => {
    const replicated = overrideStages(bagel, { 0: { num_replicas: 2 } }).pipeline;
    const { scheduler, orchestrator, submit } = virtualPipeline(replicated);
    const [first, second] = [submit({ task: image }), submit({ task: image })];
    expect(orchestrator.stats().stages.map(({ running }) => running)).toEqual([3, 3, 0]);
    scheduler.runUntil();
    for (const run of [first, second]) expect(run?.metrics()['0']).toMatchObject({ num_tokens_out: 6 });
    expectIdle(orchestrator);
  });

  test('that is off needs none, nor does a reply without an image', () => {
    const { orchestrator, submit } = virtualPipeline(bagel);
    submit({ task: { ...image, trueCfgScale: 1 } });
    submit({ task: image, finalStageIds: [0] });
    expect(orchestrator.stats().stages[0]?.running).toBe(2);
  });

  test('an image is never begun with some of them', () => {
    // One seat: the companions are read after the request's own prompt, one after another.
    const narrow = overrideStages(withoutNoise(bagel), { 0: { max_num_seqs: 1 } }).pipeline;
    const { scheduler, submit } = virtualPipeline(narrow);
    const seen = submit({ task: image });
    const alone = virtualPipeline(withoutNoise(bagel));
    const other = alone.submit({ task: image });
    scheduler.runUntil();
    alone.scheduler.runUntil();
    const start = (run: SeenRun): number => (run.metrics()['0']?.stage_gen_time_ms ?? 0) + run.acceptedMs;
    expect(seen.finishedMs).toBeGreaterThan(start(seen) + 2 * 100);
    expect(other.finishedMs).toBeLessThan(seen.finishedMs ?? 0);
  });
});

describe('a thinker in two', () => {
  test('decodes from the KV cache of the stage that read the prompt', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(withoutNoise(qwen3OmniPd));
    const seen = submit({ promptTokens: 2500, params: { maxTokens: 50 } });
    scheduler.runUntil();
    const metrics = seen.metrics();
    expect(Object.values(metrics).map(({ stage_name }) => stage_name)).toEqual([
      'prefill',
      'decode',
      'talker',
      'code2wav',
    ]);
    expect(metrics['0']).toMatchObject({ num_tokens_in: 2500, num_tokens_out: 1 });
    expect(metrics['1']).toMatchObject({ num_tokens_in: 0, num_tokens_out: 50, final_output_type: 'text' });
    // The prompt is read, and its cache of one unit handed over.
    const readMs = 10.8 + 0.322 * 2500;
    expect(metrics['0']?.stage_gen_time_ms).toBeCloseTo(readMs, 3);
    expect(metrics['1']?.serving_time_to_first_output_ms).toBeCloseTo(readMs + 25 + 0.004 * 2500, 3);
    expect(orchestrator.stats().transfers[0]).toMatchObject({ edge: { from: 0, to: 1 }, transfers: 1 });
    expectIdle(orchestrator);
  });

  test('without that cache the request fails, and no other', () => {
    const [prefill, ...rest] = qwen3OmniPd.stages;
    if (prefill?.executionType !== 'LLM_AR') throw new Error('no prefill stage');
    const broken = { ...qwen3OmniPd, stages: [{ ...prefill, laws: { ...prefill.laws, kv: null } }, ...rest] };
    const { scheduler, orchestrator, submit } = virtualPipeline(broken);
    const seen = submit({ params: { maxTokens: 5 } });
    scheduler.runUntil();
    expect(seen.failure).toEqual({
      message: 'Stage 1 (decode) was given no KV cache by the stage before it.',
      status: 500,
    });
    expectIdle(orchestrator);
  });
});

describe('ready chunks', () => {
  test('of several requests share a forward, up to as many as fit', () => {
    const chunk = { frames: 10, initial: 10 };
    const laws = { chunk, decode: { firstMs: 100, baseMs: 100, perFrameMs: 0 }, batchSlope: 0.1 };
    const vocoder = (maxNumSeqs: number): PipelineDefinition =>
      overrideStages(withoutNoise(miniCpmO), {
        0: { ttft: { baseMs: 10, perInputTokenMs: 0 }, batchSlope: 0 },
        1: { ttft: { baseMs: 10 }, step: { nativeMs: 1 }, batchSlope: 0, length: 10 },
        2: { ...laws, max_num_seqs: maxNumSeqs },
      }).pipeline;
    const sounds = (maxNumSeqs: number): number[] => {
      const { scheduler, submit } = virtualPipeline(vocoder(maxNumSeqs));
      const runs = [1, 2, 3].map(() => submit({ params: { maxTokens: 1 } }));
      scheduler.runUntil();
      return runs.map((run) => (run.finishedMs ?? Number.NaN) - run.acceptedMs).sort((a, b) => a - b);
    };
    // Ten frames are there after 10 + 10 + 9 ms; the first starts a forward alone, and the others share the next.
    expect(sounds(4)).toEqual([129, 239, 239]);
    expect(sounds(1)).toEqual([129, 229, 329]);
  });

  test('a request whose talker is slow slows no other', () => {
    const flat = overrideStages(withoutNoise(qwen3Omni), {
      0: { batchSlope: 0 },
      1: { batchSlope: 0, length: 60 },
      2: { batchSlope: 0 },
    }).pipeline;
    const alone = virtualPipeline(flat);
    const [single] = closedLoop(alone, 1, 1, { params: { maxTokens: 20 } });
    const { scheduler, orchestrator, submit } = virtualPipeline(flat);
    const slow = orchestrator.submit(
      {
        id: 'slow',
        acceptedMs: scheduler.nowMs(),
        promptTokens: 2500,
        finalStageIds: [0, 2],
        params: [],
        initialChunkFrames: null,
        keepGaps: false,
        paceByStage: { 1: 20 },
      },
      { onOutput: () => {}, onFailure: () => {} },
    );
    const beside = submit({ params: { maxTokens: 20 } });
    scheduler.runUntil();
    expect(beside.finishedMs).toBe(single?.finishedMs);
    // 20 × (213 + 59 × 12.2) ms where the other took one of it.
    expect(slow.allSnapshots()['1']?.stage_gen_time_ms).toBeGreaterThan(18_000);
    expectIdle(orchestrator);
  });
});

test('a reply that breaks ends alone: the others in the same turn go on', () => {
  const { scheduler, orchestrator, submit } = virtualPipeline(withoutNoise(textLlm));
  const failures: string[] = [];
  orchestrator.submit(
    {
      id: 'broken',
      acceptedMs: scheduler.nowMs(),
      promptTokens: 10,
      finalStageIds: [0],
      params: [],
      initialChunkFrames: null,
      keepGaps: false,
    },
    {
      onOutput: () => {
        throw new Error('the socket is odd');
      },
      onFailure: ({ message }) => failures.push(message),
    },
  );
  const other = submit({ promptTokens: 10, params: { maxTokens: 5 } });
  scheduler.runUntil();
  expect(failures).toEqual(['Internal error: the socket is odd']);
  expect(other.finishedMs).not.toBeNull();
  expectIdle(orchestrator);
});

test('2,000 clients that leave at random moments leave zero running requests', () => {
  const virtual = virtualPipeline(qwen3Omni);
  const { scheduler, orchestrator, submit } = virtual;
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const leaving: { atMs: number; run: SeenRun }[] = [];
  for (let i = 0; i < 2000; i += 1) {
    scheduler.runUntil(scheduler.nowMs() + random() * 5);
    leaving.push({
      atMs: scheduler.nowMs() + random() * 4000,
      run: submit({ promptTokens: 50, params: { maxTokens: 30 } }),
    });
    for (const { run } of leaving.filter(({ atMs }) => atMs <= scheduler.nowMs())) run.run.abort();
  }
  for (const { run } of leaving) run.run.abort();
  expectIdle(orchestrator);
});
