import { nowMs } from '../../foundation/clock.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)}s`;
}

/**
 * One line that says where a request's time went.
 * @param acceptedMs when it was accepted, ms on the process's clock
 */
export function describeRun(requestId: string, acceptedMs: number, metrics: StageMetrics): string {
  const stages = Object.values(metrics);
  const times = stages.map((stage) => `${stage.stage_id}:${seconds(stage.stage_gen_time_ms ?? 0)}`);
  const handOffs = stages
    .filter((stage) => (stage.postprocess_time_ms ?? 0) > 0)
    .map((stage) => `${stage.stage_id}->=${(stage.postprocess_time_ms ?? 0).toFixed(2)}ms`);
  return (
    `[OmniTiming] req=${requestId} total=${seconds(nowMs() - acceptedMs)} stages=[${times.join(',')}]` +
    ` transfers=[${handOffs.join(',')}]`
  );
}
