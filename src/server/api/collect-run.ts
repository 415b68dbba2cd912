import type { FinishReason } from '../../protocol/sampling.ts';
import type { StageArtifact } from '../engine/stage-artifact.ts';
import type { PcmAudio, StageOutput, StageProgress } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { ReplySink } from '../pipeline/pipeline-runtime.ts';
import { ClientGoneError } from './client-gone-error.ts';
import type { ReplyLife, RunRequest } from './reply-life.ts';
import { RequestError } from './request-error.ts';

/** Everything that a run gave. */
export type CollectedRun = {
  readonly text: string;
  readonly textTokens: number;
  /** Of the text; `null` = there was none. */
  readonly finishReason: FinishReason | null;
  readonly stopReason: string | null;
  readonly sounds: readonly PcmAudio[];
  readonly artifact: StageArtifact | null;
  /** Stage whose output came last. */
  readonly lastStage: StageDefinition;
  readonly run: PipelineRun;
};

/** Called as the run goes on. */
export type CollectHooks = {
  onOutput?(stage: StageDefinition, output: StageOutput, run: PipelineRun): void;
  onProgress?(progress: StageProgress): void;
};

/** Gathers a run's outputs; calls back once, at its end. */
export class CollectingSink implements ReplySink {
  readonly #run: () => PipelineRun;
  readonly #hooks: CollectHooks;
  readonly #onEnd: (collected: CollectedRun) => void;
  readonly #onFailure: (error: RequestError) => void;
  readonly #texts: string[] = [];
  readonly #sounds: PcmAudio[] = [];
  #textTokens = 0;
  #textEnd: StageOutput | null = null;
  #artifact: StageArtifact | null = null;

  constructor(
    run: () => PipelineRun,
    hooks: CollectHooks,
    onEnd: (collected: CollectedRun) => void,
    onFailure: (error: RequestError) => void,
  ) {
    this.#run = run;
    this.#hooks = hooks;
    this.#onEnd = onEnd;
    this.#onFailure = onFailure;
  }

  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    if (output.text !== null) {
      this.#texts.push(output.text);
      this.#textTokens += output.units;
      if (output.finishReason !== null) this.#textEnd = output;
    }
    if (output.audio !== null && output.audio.samples > 0) this.#sounds.push(output.audio);
    if (output.artifact !== null) this.#artifact = output.artifact;
    this.#hooks.onOutput?.(stage, output, this.#run());
    if (!requestFinished) return;
    this.#onEnd({
      text: this.#texts.join(''),
      textTokens: this.#textTokens,
      finishReason: this.#textEnd?.finishReason ?? null,
      stopReason: this.#textEnd?.stopReason ?? null,
      sounds: this.#sounds,
      artifact: this.#artifact,
      lastStage: stage,
      run: this.#run(),
    });
  }

  onProgress(_stage: StageDefinition, progress: StageProgress): void {
    this.#hooks.onProgress?.(progress);
  }

  onFailure({ message, status }: Parameters<ReplySink['onFailure']>[0]): void {
    this.#onFailure(new RequestError(status, message));
  }
}

/**
 * Starts a run behind a reply and waits for all of its output.
 * @throws RequestError where it fails, ClientGoneError where nobody waits for it any more
 */
export function collectRun(
  life: ReplyLife,
  request: RunRequest,
  hooks: CollectHooks = {},
): Promise<CollectedRun> {
  return new Promise((resolve, reject) => {
    life.whenGone(() => reject(new ClientGoneError()));
    life.start(request, (run) => new CollectingSink(run, hooks, resolve, reject));
  });
}
