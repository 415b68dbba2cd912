import { randomUUID } from 'node:crypto';
import { UsageError } from '../../foundation/errors.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { duplexCalibrations } from './duplex-laws.ts';
import type { DuplexObserver } from './duplex-observer.ts';
import { type DuplexScript, noDuplexScript, readDuplexScript } from './duplex-script.ts';
import { DuplexServer, duplexLimits } from './duplex-server.ts';

/**
 * The script of `--duplex-script`; `null` = none was given.
 * @throws InputFileError where it can't be read; UsageError where the deployment has no use for one
 */
export function duplexScriptOf(path: string | null, { duplex, name }: PipelineDefinition): DuplexScript {
  if (path === null) return noDuplexScript;
  if (duplex !== null) return readDuplexScript(path);
  throw new UsageError(`--duplex-script: ${name} is deployed to answer in turns.`);
}

/** The conversations of a deployment; `null` where it answers in turns. */
export function createDuplexServer(
  { duplex, stages }: PipelineDefinition,
  given: {
    readonly script: DuplexScript;
    readonly scheduler: Scheduler;
    readonly timeScale: number;
    readonly seed: number;
    readonly servedModelName: string;
    readonly countTokens: (text: string) => number;
    readonly observer: DuplexObserver;
    readonly logLine: ((line: string) => void) | null;
  },
): DuplexServer | null {
  if (duplex === null) return null;
  const { script } = given;
  const { maxSessions, idleTtlS, disconnectGraceS } = duplex;
  return new DuplexServer({
    parts: {
      scheduler: given.scheduler,
      timeScale: given.timeScale,
      laws: duplexCalibrations[script.calibration],
      eventNames: script.event_names,
      chunkPeriodMs: duplex.chunkPeriodMs,
      modelDecides: duplex.modelDecides,
      servedModelName: given.servedModelName,
      countTokens: given.countTokens,
      stageNames: stages.map(({ name }) => name),
      observer: given.observer,
      logLine: given.logLine,
      newId: () => randomUUID().replaceAll('-', ''),
    },
    limits: { ...duplexLimits, maxSessions, idleTtlS, disconnectGraceS },
    script,
    seed: given.seed,
  });
}
