import type { StageFailure, StageListener } from '../engine/stage-engine.ts';
import { chatTask } from '../engine/stage-task.ts';
import type { PipelineRequest, PipelineRuntime } from './pipeline-runtime.ts';
import type { StageBinding } from './stage-pool.ts';
import { isFailure, type StageProgress } from './stage-progress.ts';

/**
 * The prompts without condition that classifier-free guidance needs beside the request's own. They run in the first
 * stage, on the replica of their parent, leave no output of their own, and end with it.
 */
export class CfgCompanions {
  readonly #request: PipelineRequest;
  readonly #roles: readonly string[];
  readonly #bindings: StageBinding[] = [];
  readonly #deferred: (() => void)[] = [];
  #left: number;
  #ended = false;

  private constructor(request: PipelineRequest, roles: readonly string[]) {
    this.#request = request;
    this.#roles = roles;
    this.#left = roles.length;
  }

  /** The companions of a request; `null` = it needs none: no image is wanted, or guidance is off. */
  static for(request: PipelineRequest, stages: readonly StageProgress[]): CfgCompanions | null {
    const [first] = stages;
    const { task } = request;
    if (first === undefined || first.stage.executionType !== 'LLM_AR') return null;
    const { cfgCompanions } = first.stage;
    const wantsImage = stages.some(({ stage }) => stage.executionType === 'DIFFUSION');
    if (cfgCompanions.length === 0 || !wantsImage) return null;
    const scale =
      task?.kind === 'image' || task?.kind === 'video' ? (task.trueCfgScale ?? task.guidanceScale) : null;
    return scale !== null && scale <= 1 ? null : new CfgCompanions(request, cfgCompanions);
  }

  /** @param onFailure told when a companion fails, which its parent does not survive */
  start(first: StageProgress, runtime: PipelineRuntime, onFailure: (failure: StageFailure) => void): void {
    const { binding, arrivalIndex, pool, stage } = first;
    if (binding === null) return;
    const { id, acceptedMs, promptTokens, paceByStage } = this.#request;
    for (const role of this.#roles) {
      let done = false;
      const listener: StageListener = {
        onOutput: ({ kv, finishReason }) => {
          if (done || (kv === null && finishReason === null)) return;
          done = true;
          this.#oneDone();
        },
        onProgress: () => {},
        onFailure: (failure) => {
          if (!done) onFailure(failure);
        },
      };
      const result = pool.submit(
        {
          id: `${id}~${role}`,
          acceptedMs,
          promptTokens,
          params: { maxTokens: 1, minTokens: 0, ignoreEos: false, stop: [] },
          task: chatTask,
          source: null,
          pace: paceByStage?.[stage.stageId] ?? 1,
          hasUpstream: false,
          fullPayload: !runtime.asyncChunk,
        },
        listener,
        { replicaId: binding.replicaId, arrivalIndex },
      );
      if (isFailure(result)) {
        onFailure(result);
        return;
      }
      this.#bindings.push(result.binding);
    }
  }

  /** Calls back when all companions are done, at once where they are. */
  whenDone(then: () => void): void {
    if (this.#left === 0) then();
    else this.#deferred.push(then);
  }

  /** Stops what still runs. */
  end(): void {
    this.#ended = true;
    this.#deferred.length = 0;
    for (const binding of this.#bindings) {
      binding.sequence.abort();
      binding.release();
    }
  }

  #oneDone(): void {
    this.#left -= 1;
    if (this.#left > 0 || this.#ended) return;
    for (const then of this.#deferred.splice(0)) then();
  }
}
