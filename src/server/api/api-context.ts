import type { DuplexServer } from '../duplex/duplex-server.ts';
import type { FaultPlan } from '../faults/fault-plan.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { Orchestrator } from '../pipeline/orchestrator.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import type { TruthLog } from '../truth-log.ts';
import type { ApiLimits } from './api-limits.ts';

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
  readonly metrics: ServerMetrics;
  readonly limits: ApiLimits;
  /** Keys of which a request must name one; empty = none is needed. Never logged. */
  readonly apiKeys: readonly string[];
  /** Folder from which `file:` URLs may be read, with symbolic links resolved; `null` = none. */
  readonly localMediaRoot: string | null;
  /** What goes wrong on purpose. */
  readonly faults: FaultPlan;
  /** Its full-duplex conversations; `null` = it answers in turns. */
  readonly duplex: DuplexServer | null;
  /** Takes one line per finished request; `null` = nobody wants it. */
  readonly logLine: ((line: string) => void) | null;
};
