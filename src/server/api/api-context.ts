import type { Orchestrator } from '../pipeline/orchestrator.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import type { TruthLog } from '../truth-log.ts';

/** What every route of a server works with. */
export type ApiContext = {
  readonly orchestrator: Orchestrator;
  readonly pipeline: PipelineDefinition;
  readonly servedModelName: string;
  /** Unix seconds at which the server started. */
  readonly startedS: number;
  /** Tokens of a text in the model's vocabulary. */
  readonly countTokens: (text: string) => number;
  readonly truthLog: TruthLog;
  /** Takes one line per finished request; `null` = nobody wants it. */
  readonly logLine: ((line: string) => void) | null;
};
