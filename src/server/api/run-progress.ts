import type { ReplyMetrics, StageMetrics } from '../../protocol/stage-metrics.ts';
import type { StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';

/** What a reply asks of the run behind it. */
export type RunProgress = {
  completionTokens(): number;
  takeFinishedSnapshots(): StageMetrics | null;
  allSnapshots(): StageMetrics;
};

/**
 * `metrics` of the chunk that carries an output: the snapshots of the stages that finished since the last chunk,
 * and, where this output is a stage's last, what that stage was.
 */
export function outputMetrics(
  stage: StageDefinition,
  output: StageOutput,
  run: RunProgress,
  promptTokens: number,
): ReplyMetrics {
  const finished = run.takeFinishedSnapshots();
  if (finished === null) return {};
  if (output.finishReason === null) return { stage_metrics: finished };
  return finalMetrics(stage, finished, run, promptTokens);
}

/** `metrics` of a stage's end. */
export function finalMetrics(
  stage: StageDefinition,
  stageMetrics: StageMetrics,
  run: RunProgress,
  promptTokens: number,
): ReplyMetrics {
  return {
    ...(stage.finalOutputType === 'text'
      ? { num_tokens_in: promptTokens, num_tokens_out: run.completionTokens() }
      : {}),
    stage_id: stage.stageId,
    final_output_type: stage.finalOutputType,
    stage_metrics: stageMetrics,
  };
}
