import { nowMs } from '../../foundation/clock.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { HandOffTime } from './pipeline-run.ts';

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)}s`;
}

/** What the line of a run is made of. */
type SummarizedRun = {
  allSnapshots(): StageMetrics;
  handOffTimes(): HandOffTime[];
  stageDurations(): Readonly<Record<string, number>>;
};

/**
 * One line that says where a request's time went.
 * @param acceptedMs when it was accepted, ms on the process's clock
 */
export function describeRun(requestId: string, acceptedMs: number, run: SummarizedRun): string {
  const totalMs = nowMs() - acceptedMs;
  const { preprocess_ms: preprocessMs = 0, ar2diffusion_ms: toDiffusionMs } = run.stageDurations();
  const stages = Object.values(run.allSnapshots());
  const times = stages.map((stage) => `${stage.stage_id}:${seconds(stage.stage_gen_time_ms ?? 0)}`);
  const handOffs = run.handOffTimes().map(({ edge, ms }) => `${edge.from}->${edge.to}=${ms.toFixed(2)}ms`);
  return (
    `[OmniTiming] req=${requestId} total=${seconds(totalMs)} preprocess=${seconds(preprocessMs)} ` +
    `engine=${seconds(totalMs - preprocessMs)} stages=[${times.join(',')}] transfers=[${handOffs.join(',')}]` +
    `${toDiffusionMs === undefined ? '' : ` ar2diffusion=${toDiffusionMs.toFixed(2)}ms`}`
  );
}
