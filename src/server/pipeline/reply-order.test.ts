import { describe, expect, test } from 'vitest';
import type { StageEngine, StageListener, StageOutput } from '../engine/stage-engine.ts';
import { virtualScheduler } from '../engine/virtual-scheduler.ts';
import { overrideStages } from '../model/deploy-pipeline.ts';
import { qwen3Omni } from '../model/qwen3-omni.ts';
import { textLlm } from '../model/text-llm.ts';
import { createOrchestrator } from './create-runtime.ts';
import { virtualPipeline } from './virtual-pipeline.suite.ts';

const textStage = 0;
const soundStage = 2;

/** A request whose stages all give what the test says, when it says so. */
function scriptedRequest() {
  const scheduler = virtualScheduler(1000);
  const orchestrator = createOrchestrator({
    pipeline: qwen3Omni,
    scheduler,
    timeScale: 1,
    seed: 0,
    tokenize: (text) => [text],
    remoteStageIds: [0, 1, 2],
  });
  const listeners: StageListener[] = [];
  for (const { stageId } of qwen3Omni.stages) {
    const engine: StageEngine = {
      kind: 'ar',
      submit(_request, listener) {
        listeners[stageId] = listener;
        return { feed() {}, fetch() {}, abort() {} };
      },
      stats: () => ({ running: 0, waiting: 0, waitingForChunk: 0 }),
      isAlive: () => true,
      close() {},
    };
    orchestrator.addReplica(stageId, engine);
  }
  const replied: string[] = [];
  const run = orchestrator.submit(
    {
      id: 'request',
      acceptedMs: 1000,
      promptTokens: 5,
      finalStageIds: [textStage, soundStage],
      params: qwen3Omni.stages.map(() => ({ maxTokens: 9, minTokens: 0, ignoreEos: false, stop: [] })),
      initialChunkFrames: null,
      keepGaps: false,
    },
    {
      onOutput: (stage, { dueMs, finishReason }, requestFinished) =>
        replied.push(
          `${stage.stageId === textStage ? 'text' : 'sound'} ${dueMs}` +
            `${finishReason === null ? '' : ` ${finishReason}`}${requestFinished ? ', the last' : ''}`,
        ),
      onFailure: ({ message }) => replied.push(message),
    },
  );
  const gives = (stageId: number, dueMs: number, more: Partial<StageOutput> = {}): void => {
    const output = { dueMs, units: 1, text: '', audio: null, artifact: null, kv: null, stepMs: 10 };
    listeners[stageId]?.onOutput({ ...output, finishReason: null, stopReason: null, ...more }, 5000);
  };
  return { orchestrator, run, replied, gives };
}

describe('a reply from stages that are not in step', () => {
  test('gives no sound before the text that was due before it, whichever comes first', () => {
    const { orchestrator, replied, gives } = scriptedRequest();
    gives(textStage, 100, { nextDueMs: 120 });
    gives(soundStage, 115);
    gives(soundStage, 130);
    gives(soundStage, 150, { finishReason: 'stop' });
    expect(replied).toEqual(['text 100', 'sound 115']);
    expect(orchestrator.requestCount).toBe(1);
    expect(orchestrator.stats().stages.map(({ outputsQueued }) => outputsQueued)).toEqual([0, 0, 2]);
    gives(textStage, 120, { nextDueMs: 140 });
    expect(replied.splice(0)).toEqual(['text 100', 'sound 115', 'text 120', 'sound 130']);
    gives(textStage, 140, { finishReason: 'length' });
    expect(replied).toEqual(['text 140 length', 'sound 150 stop, the last']);
    expect(orchestrator.requestCount).toBe(0);
  });

  test('waits for nothing that is due later, nor for a stage that cannot tell', () => {
    const { replied, gives } = scriptedRequest();
    gives(textStage, 100, { nextDueMs: 900 });
    gives(soundStage, 300);
    gives(textStage, 900);
    gives(soundStage, 950, { finishReason: 'stop' });
    gives(textStage, 1000, { finishReason: 'length' });
    expect(replied).toEqual([
      'text 100',
      'sound 300',
      'text 900',
      'sound 950 stop',
      'text 1000 length, the last',
    ]);
  });

  test('is a failure, not the sound without its text, where the text’s stage is lost', () => {
    const { orchestrator, replied, gives } = scriptedRequest();
    gives(textStage, 100, { nextDueMs: 120 });
    gives(soundStage, 130, { finishReason: 'stop' });
    // Has left the sound's stage, of which it wants nothing more.
    orchestrator.removeReplica(soundStage, 0, 'gone.');
    expect(replied).toEqual(['text 100']);
    orchestrator.removeReplica(textStage, 0, 'gone.');
    expect(replied).toEqual(['text 100', 'Replica 0 of stage 0 (thinker) was lost: gone.']);
    expect(orchestrator.requestCount).toBe(0);
  });

  test('of which the client is gone leaves nothing', () => {
    const { orchestrator, run, replied, gives } = scriptedRequest();
    gives(textStage, 100, { nextDueMs: 120 });
    gives(soundStage, 130);
    run.abort();
    gives(textStage, 120);
    expect(replied).toEqual(['text 100']);
    expect(orchestrator.stats().requests).toBe(0);
  });
});

describe('a simulated language stage', () => {
  test.each([
    ['with noise', textLlm],
    [
      'that stalls',
      overrideStages(textLlm, { 0: { step: { nativeMs: 20, stallAtToken: 5, stallMs: 700 } } }).pipeline,
    ],
  ])('%s tells with each token when the next one is due', (_name, pipeline) => {
    const { scheduler, submit } = virtualPipeline(pipeline);
    const runs = Array.from({ length: 3 }, () => submit({ promptTokens: 50, params: { maxTokens: 12 } }));
    scheduler.runUntil();
    for (const { outputs } of runs) {
      expect(outputs).toHaveLength(12);
      const told = outputs.map(({ output }) => output.nextDueMs ?? null);
      expect(told).toEqual([...outputs.slice(1).map(({ output }) => output.dueMs), null]);
    }
  });
});
