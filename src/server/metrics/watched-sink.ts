import type { FinishReason } from '../../protocol/sampling.ts';
import type { StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-runtime.ts';
import { Playback } from './playback.ts';

/** A request whose outputs are watched. */
export type WatchedRequest = { readonly acceptedMs: number; readonly promptTokens: number };

/** The replica that a stage of a run was given to; `null` = none yet. */
export type ReplicaOf = (stageId: number) => number | null;

/** A stage, as samples are labelled. */
export type StageReplica = { readonly stageId: number; readonly replicaId: number | null };

/** Takes what is seen of a run. */
export type RunObserver = {
  /** Text of a stage: its first tokens have no gap before them. */
  text(stage: StageReplica, tokens: number, sinceMs: number, isFirst: boolean): void;
  firstAudio(stage: StageReplica, sinceAcceptedMs: number): void;
  audioEnded(stage: StageReplica, playback: Playback, samples: number, sinceAcceptedMs: number): void;
  diffusion(stage: StageReplica, forwardMs: number, steps: number): void;
  /** The run ended; `abort` also where it failed or its client left. */
  ended(reason: FinishReason, acceptedMs: number, nowMs: number): void;
};

/** Watches one run on its way to its reply. */
export class WatchedSink implements ReplySink {
  readonly #observer: RunObserver;
  readonly #request: WatchedRequest;
  readonly #sink: ReplySink;
  readonly #replicaOf: ReplicaOf;
  readonly #nowMs: () => number;
  readonly #playback = new Playback();
  #samples = 0;
  #ended = false;
  #lastTextMs: number | null = null;

  constructor(
    observer: RunObserver,
    request: WatchedRequest,
    sink: ReplySink,
    replicaOf: ReplicaOf,
    nowMs: () => number,
  ) {
    this.#observer = observer;
    this.#request = request;
    this.#sink = sink;
    this.#replicaOf = replicaOf;
    this.#nowMs = nowMs;
  }

  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    const nowMs = this.#nowMs();
    if (stage.finalOutputType === 'text') this.#text(stage, output, nowMs);
    if (stage.finalOutputType === 'audio') this.#audio(stage, output, nowMs);
    const { artifact } = output;
    if (artifact?.kind === 'images' || artifact?.kind === 'video')
      this.#observer.diffusion(
        this.#replica(stage),
        artifact.facts.forwardMs,
        artifact.facts.numInferenceSteps,
      );
    if (requestFinished) this.#end(output.finishReason ?? 'stop', nowMs);
    this.#sink.onOutput(stage, output, requestFinished);
  }

  onProgress(...progress: Parameters<NonNullable<ReplySink['onProgress']>>): void {
    this.#sink.onProgress?.(...progress);
  }

  onFailure(...failure: Parameters<ReplySink['onFailure']>): void {
    this.left();
    this.#sink.onFailure(...failure);
  }

  left(): void {
    this.#end('abort', this.#nowMs());
  }

  #end(reason: FinishReason, nowMs: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#observer.ended(reason, this.#request.acceptedMs, nowMs);
  }

  #replica({ stageId }: StageDefinition): StageReplica {
    return { stageId, replicaId: this.#replicaOf(stageId) };
  }

  #text(stage: StageDefinition, output: StageOutput, nowMs: number): void {
    if (output.units === 0) return;
    const sinceMs = nowMs - (this.#lastTextMs ?? this.#request.acceptedMs);
    this.#observer.text(this.#replica(stage), output.units, sinceMs, this.#lastTextMs === null);
    this.#lastTextMs = nowMs;
  }

  #audio(stage: StageDefinition, output: StageOutput, nowMs: number): void {
    const sinceMs = nowMs - this.#request.acceptedMs;
    const { audio } = output;
    if (audio !== null && audio.samples > 0) {
      if (!this.#playback.started) this.#observer.firstAudio(this.#replica(stage), sinceMs);
      this.#playback.chunk(nowMs, (audio.samples / audio.sampleRateHz) * 1000);
      this.#samples += audio.samples;
    }
    if (output.finishReason !== null)
      this.#observer.audioEnded(this.#replica(stage), this.#playback, this.#samples, sinceMs);
  }
}
