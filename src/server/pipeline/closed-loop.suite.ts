import { mean } from '../../foundation/statistics.ts';
import type { StageSnapshot } from '../../protocol/stage-metrics.ts';
import type { StageParams } from '../engine/stage-engine.ts';
import type { StageTask } from '../engine/stage-task.ts';
import type { SeenRun, VirtualPipeline } from './virtual-pipeline.suite.ts';

/** What every request of a run asks for. */
export type LoopRequest = {
  promptTokens?: number;
  params?: Partial<StageParams>;
  task?: StageTask;
  finalStageIds?: number[];
};

/** Requests in a closed loop: `concurrency` at once, the next as soon as one has finished. */
export function closedLoop(
  { scheduler, submit }: VirtualPipeline,
  count: number,
  concurrency: number,
  request: LoopRequest = {},
): SeenRun[] {
  const runs: SeenRun[] = [];
  const next = (): void => {
    if (runs.length < count) runs.push(submit({ ...request, onFinished: next }));
  };
  for (let i = 0; i < concurrency; i += 1) next();
  scheduler.runUntil();
  return runs;
}

/** One stage's snapshots of all runs. */
export function snapshots(runs: readonly SeenRun[], stageId: number): StageSnapshot[] {
  return runs.flatMap((run) => {
    const snapshot = run.metrics()[String(stageId)];
    return snapshot === undefined ? [] : [snapshot];
  });
}

export function values(of: readonly StageSnapshot[], key: keyof StageSnapshot): number[] {
  return of.map((snapshot) => Number(snapshot[key]));
}

/** What a client would measure, ms; of audio, the real-time factor of its whole reply. */
export function clientMeans(runs: readonly SeenRun[]): {
  e2elMs: number;
  ttftMs: number;
  tpotMs: number;
  ttfpMs: number;
  rtf: number;
} {
  const figures = runs.map((run) => {
    const texts = run.outputs.filter(({ output }) => output.text !== null && output.units > 0);
    const sounds = run.outputs.filter(({ output }) => output.audio !== null);
    const e2elMs = (run.finishedMs ?? Number.NaN) - run.acceptedMs;
    const ttftMs = (texts[0]?.timeMs ?? Number.NaN) - run.acceptedMs;
    const lastMs = (texts.at(-1)?.timeMs ?? Number.NaN) - run.acceptedMs;
    const audioS = sounds.reduce(
      (sum, { output }) => sum + (output.audio?.samples ?? 0) / (output.audio?.sampleRateHz ?? 1),
      0,
    );
    return {
      e2elMs,
      ttftMs,
      tpotMs: (lastMs - ttftMs) / Math.max(1, texts.length - 1),
      ttfpMs: (sounds[0]?.timeMs ?? Number.NaN) - run.acceptedMs,
      rtf: e2elMs / 1000 / audioS,
    };
  });
  const of = (pick: (figure: (typeof figures)[number]) => number): number =>
    mean(figures.map(pick)) ?? Number.NaN;
  return {
    e2elMs: of(({ e2elMs }) => e2elMs),
    ttftMs: of(({ ttftMs }) => ttftMs),
    tpotMs: of(({ tpotMs }) => tpotMs),
    ttfpMs: of(({ ttfpMs }) => ttfpMs),
    rtf: of(({ rtf }) => rtf),
  };
}
