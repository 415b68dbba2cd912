import { describe, expect, test } from 'vitest';
import { qwenImage } from '../model/image-models.ts';
import { diffusionStage, megapixel, pipeline } from '../model/stage-defaults.ts';
import { heliosDistilled } from '../model/video-models.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { type SeenRun, virtualPipeline, withoutNoise } from '../pipeline/virtual-pipeline.suite.ts';
import { simDiffusionEngine } from './sim-diffusion-engine.ts';
import type { ImageTask } from './stage-task.ts';
import { virtualScheduler } from './virtual-scheduler.ts';

const task: ImageTask = {
  kind: 'image',
  prompt: 'a boat',
  negativePrompt: null,
  widthPx: null,
  heightPx: null,
  numInferenceSteps: 10,
  guidanceScale: null,
  trueCfgScale: null,
  seed: 7,
  references: [],
  extra: {},
  count: 1,
};

/** Steps of 100 ms for a million pixels, a tenth more for each that shares them. */
function diffusion(over: { maxNumSeqs?: number; stepExecution?: boolean } = {}): PipelineDefinition {
  return pipeline({
    name: 'test',
    modelIds: [],
    capabilities: ['images'],
    stages: [
      diffusionStage({
        stageId: 0,
        name: 'dit',
        profileName: 'TestPipeline',
        defaults: { widthPx: 1024, heightPx: 1024, numInferenceSteps: 50, numFrames: 1, fps: 24 },
        ...over,
        laws: {
          denoise: { msPerStep: 100, refPixels: megapixel, exponent: 1, sd: 0 },
          encodeMs: 10,
          decodeMs: 20,
          peakMemory: { baseMb: 1000, perMegapixelMb: 500, sdMb: 0 },
          batchSlope: { step: 0.1, ttft: 0, ttftPower: 1, over: 'stage' },
        },
      }),
    ],
  });
}

function tookMs(run: SeenRun | undefined): number {
  return (run?.finishedMs ?? Number.NaN) - (run?.acceptedMs ?? Number.NaN);
}

describe('a request alone', () => {
  test('takes its encoding, its steps by its pixels, and its decoding', () => {
    const { scheduler, submit } = virtualPipeline(diffusion());
    const seen = submit({ task: { ...task, widthPx: 512, heightPx: 512, count: 2 } });
    scheduler.runUntil();
    // Two pictures of a quarter of a million pixels.
    expect(tookMs(seen)).toBeCloseTo(10 + 10 * 50 + 20, 6);
    const [output] = seen.outputs;
    expect(output?.output.artifact).toMatchObject({
      kind: 'images',
      images: [
        { widthPx: 512, heightPx: 512, seed: 7 },
        { widthPx: 512, heightPx: 512, seed: 8 },
      ],
    });
    expect(seen.metrics()['0']).toMatchObject({
      output_unit_type: 'image',
      output_unit_count: 2,
      image_pixels: 2 * 512 * 512,
      denoise_step_latency_ms: 53,
    });
    expect(seen.run.peakMemoryMb()).toBe(Math.round(1000 - (500 * 512 * 1024) / 1e6));
    expect(seen.run.stageDurations()).toMatchObject({
      stage_0_gen_ms: 530,
      queue_wait_ms: 0,
      'TestPipeline.text_encoder.forward': 0.01,
      'TestPipeline.diffuse': 0.5,
      'TestPipeline.vae.decode': 0.02,
    });
  });

  test('tells how far it is, from the moment at which it is selected', () => {
    const { scheduler, submit } = virtualPipeline(diffusion());
    const first = submit({ task });
    const second = submit({ task });
    scheduler.runUntil(1000 + 500);
    expect(first.progress).toEqual([0, 9, 18, 27, 36]);
    expect(second.progress).toEqual([]);
    scheduler.runUntil();
    expect(second.progress[0]).toBe(0);
    expect(tookMs(second)).toBeCloseTo(2 * tookMs(first), 6);
    expect(second.run.stageDurations().queue_wait_ms).toBeCloseTo(tookMs(first), 3);
  });

  test('without a seed gets one that follows from the server’s', () => {
    const seedOf = (seed: number): unknown => {
      const { scheduler, submit } = virtualPipeline(qwenImage, { seed });
      const seen = submit({ task: { ...task, seed: null } });
      scheduler.runUntil();
      const artifact = seen.outputs[0]?.output.artifact;
      return artifact?.kind === 'images' ? artifact.images[0]?.seed : null;
    };
    expect(seedOf(1)).toBe(seedOf(1));
    expect(seedOf(1)).not.toBe(seedOf(2));
  });

  test('of a video has its frames and its fractional rate', () => {
    const { scheduler, submit } = virtualPipeline(withoutNoise(heliosDistilled));
    const { count: _count, ...rest } = task;
    const seen = submit({
      task: { ...rest, kind: 'video', numFrames: 66, fps: 12.5, numInferenceSteps: null },
    });
    scheduler.runUntil();
    expect(seen.outputs[0]?.output.artifact).toMatchObject({ kind: 'video', numFrames: 66, fps: 12.5 });
    // Twice the frames of the calibrated run.
    expect(seen.metrics()['0']?.stage_gen_time_ms).toBeCloseTo(60 + 6 * 2 * 708 + 195, 3);
  });
});

describe('batches', () => {
  test('stay together, of requests of one kind, in order of arrival', () => {
    const { scheduler, submit } = virtualPipeline(diffusion({ maxNumSeqs: 2 }));
    const runs = [task, task, { ...task, widthPx: 512 }, task].map((each) => submit({ task: each }));
    scheduler.runUntil();
    const pairMs = 10 + 10 * 110 + 20;
    expect(runs.slice(0, 2).map(tookMs)).toEqual([pairMs, pairMs]);
    expect(tookMs(runs[2])).toBeCloseTo(pairMs + 530, 6);
    expect(tookMs(runs[3])).toBeCloseTo(pairMs + 530 + 1030, 6);
  });

  test('with step execution, requests join and leave between steps', () => {
    const { scheduler, submit } = virtualPipeline(diffusion({ maxNumSeqs: 2, stepExecution: true }));
    const long = submit({ task });
    scheduler.runUntil(1000 + 150);
    const short = submit({ task: { ...task, numInferenceSteps: 3 } });
    scheduler.runUntil();
    // Two steps alone (10 + 200 ms), then three together, which begin with the second's encoding.
    const joinedMs = 210 + 10 + 3 * 110 + 20;
    expect(short.finishedMs).toBeCloseTo(1000 + joinedMs, 6);
    expect(long.finishedMs).toBeCloseTo(1000 + joinedMs + 5 * 100 + 20, 6);
  });

  test('an abort lets the next begin when the step is over', () => {
    const { scheduler, orchestrator, submit } = virtualPipeline(diffusion());
    const gone = submit({ task });
    const next = submit({ task });
    scheduler.runUntil(1000 + 250);
    gone.run.abort();
    expect(orchestrator.stats().stages[0]).toMatchObject({ running: 0, waiting: 1 });
    scheduler.runUntil();
    // The third step ends after 310 ms.
    expect(next.finishedMs).toBeCloseTo(1000 + 310 + 1030, 6);
    expect(orchestrator.stats().requests).toBe(0);
  });
});

test('a request that is fed late by the machine, but was ready in time, has not waited below nothing', () => {
  const [stage] = diffusion().stages;
  if (stage?.executionType !== 'DIFFUSION') throw new Error('a diffusion stage was expected');
  const scheduler = virtualScheduler(1000);
  const engine = simDiffusionEngine({
    ...{ laws: stage.laws, output: 'image', defaults: stage.defaults, profileName: 'TestPipeline' },
    ...{ maxNumSeqs: 1, stepExecution: false, seed: 0, stageName: 'dit', scheduler },
  });
  const waits: number[] = [];
  const params = { maxTokens: null, minTokens: 0, ignoreEos: false, stop: [] };
  const common = { acceptedMs: 900, promptTokens: 1, params, task, source: null, pace: 1, fullPayload: true };
  for (const arrivalIndex of [0, 1]) {
    const sequence = engine.submit(
      { ...common, id: `r${arrivalIndex}`, arrivalIndex, hasUpstream: true },
      {
        onOutput: ({ artifact }) => {
          if (artifact?.kind === 'images') waits.push(artifact.facts.queueWaitMs);
        },
        onProgress: () => {},
        onFailure: () => {},
      },
    );
    // Ready before the clock says that the stage could be told of it.
    sequence.feed({ readyMs: 990, units: 1, producerStepMs: 0, kv: null, final: true });
  }
  scheduler.runUntil();
  // The second waits for the first: its encoding, ten steps and its decoding.
  expect(waits).toEqual([0, 10 + 10 * 100 + 20]);
});
