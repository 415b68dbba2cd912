import type { ReplyMetrics, StageMetrics } from '../../protocol/stage-metrics.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';

/** What a reply asks of the run behind it. */
export type RunProgress = {
  completionTokens(): number;
  finishedSnapshots(): StageMetrics | null;
  allSnapshots(): StageMetrics;
};

/**
 * `metrics` of the chunk that carries a stage's last output: what that stage was, and the snapshots of the stages
 * that have finished, or of all at the end of the reply. They wait for the text's own, since a client that sees
 * those of other stages alone may take their tokens for the reply's.
 */
export function outputMetrics(
  stage: StageDefinition,
  requestFinished: boolean,
  run: RunProgress,
  promptTokens: number,
): ReplyMetrics {
  const stages = requestFinished ? run.allSnapshots() : run.finishedSnapshots();
  return finalMetrics(stage, stages, run, promptTokens);
}

/** `metrics` of a stage's end. */
export function finalMetrics(
  stage: StageDefinition,
  stageMetrics: StageMetrics | null,
  run: RunProgress,
  promptTokens: number,
): ReplyMetrics {
  return {
    ...(stage.finalOutputType === 'text'
      ? { num_tokens_in: promptTokens, num_tokens_out: run.completionTokens() }
      : {}),
    stage_id: stage.stageId,
    final_output_type: stage.finalOutputType,
    ...(stageMetrics === null ? {} : { stage_metrics: stageMetrics }),
  };
}
