import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { StageFailure, StageListener, StageOutput, StageParams } from '../engine/stage-engine.ts';
import { chatTask } from '../engine/stage-task.ts';
import type { ScheduledTask } from '../engine/task-heap.ts';
import { CfgCompanions } from './cfg-companions.ts';
import { goneMessage } from './connector.ts';
import type { PipelineRequest, PipelineRuntime, ReplySink } from './pipeline-runtime.ts';
import { type HandOff, isFailure, planStages, receivesChunks, type StageProgress } from './stage-progress.ts';
import { rounded } from './stage-recorder.ts';
import type { Edge, TransferMetadata } from './transfer-metadata.ts';

export type { PipelineRequest, PipelineRuntime, ReplySink } from './pipeline-runtime.ts';

/** Time that a request spent on the way between two stages, ms. */
export type HandOffTime = { readonly edge: Edge; readonly ms: number };

const deployedParams: StageParams = { maxTokens: null, minTokens: 0, ignoreEos: false, stop: [] };

function snapshotsOf(stages: readonly StageProgress[]): StageMetrics {
  return Object.fromEntries(
    stages.map(({ stage, recorder }) => [String(stage.stageId), recorder.snapshot()]),
  );
}

/** One request on its way through the stages. */
export class PipelineRun {
  readonly #runtime: PipelineRuntime;
  readonly #request: PipelineRequest;
  readonly #sink: ReplySink;
  readonly #onEnd: () => void;
  readonly #stages: readonly StageProgress[];
  readonly #companions: CfgCompanions | null;
  /** Outputs that are still being handed over to the client's side. */
  readonly #delayed = new Map<ScheduledTask, StageProgress>();
  /** Payloads that wait for a place in the window. */
  #held: { readonly from: number; readonly bring: () => void }[] = [];
  #finalStagesLeft: number;
  #ended = false;

  constructor(runtime: PipelineRuntime, request: PipelineRequest, sink: ReplySink, onEnd: () => void) {
    this.#runtime = runtime;
    this.#request = request;
    this.#sink = sink;
    this.#onEnd = onEnd;
    this.#finalStagesLeft = request.finalStageIds.length;
    this.#stages = planStages(runtime, request);
    this.#companions = CfgCompanions.for(request, this.#stages);
  }

  /**
   * Submits the first stage, and all that are fed chunk by chunk, so that each is ready when its first chunk comes.
   * Outputs follow on later turns.
   */
  start(): void {
    for (const progress of this.#stages) {
      const { stage } = progress;
      if (stage.inputSources.length === 0 || receivesChunks(stage, this.#runtime.asyncChunk))
        this.#submit(progress);
    }
    const [first] = this.#stages;
    if (!this.#ended && first !== undefined)
      this.#companions?.start(first, this.#runtime, (failure) => this.fail(failure));
  }

  /** Stops the request in every stage; the sink hears no more. Harmless after the end. */
  abort(): void {
    this.#end();
  }

  /** Ends the request with an error. */
  fail(failure: StageFailure): void {
    if (this.#ended) return;
    this.#end();
    this.#sink.onFailure(failure);
  }

  /** Tokens of the reply's text so far, also where the client did not ask for the text. */
  completionTokens(): number {
    const text = this.#stages.find(({ stage }) => stage.isComprehension);
    return text?.recorder.tokensOut ?? 0;
  }

  /** Snapshots of the stages that have finished, once the text's stage has; `null` before. */
  finishedSnapshots(): StageMetrics | null {
    const finished = this.#stages.filter(({ recorder }) => recorder.finished);
    return finished.some(({ stage }) => stage.isComprehension) ? snapshotsOf(finished) : null;
  }

  /** Snapshots of all stages that ran; complete once the request has finished. */
  allSnapshots(): StageMetrics {
    return snapshotsOf(this.#stages.filter(({ binding }) => binding !== null));
  }

  /**
   * `stage_durations` of a reply: `preprocess_ms`, `stage_<n>_gen_ms`, `queue_wait_ms` and `ar2diffusion_ms`, and the
   * profiler's times in seconds under its own names; of the stages that have finished.
   */
  stageDurations(): Record<string, number> {
    const durations: Record<string, number> = {};
    for (const { stage, recorder, handOffs } of this.#stages) {
      if (stage.stageId === 0) durations.preprocess_ms = recorder.preprocessMs;
      if (recorder.generationMs !== null) durations[`stage_${stage.stageId}_gen_ms`] = recorder.generationMs;
      for (const { consumer, spentMs } of handOffs) {
        if (consumer.executionType === 'DIFFUSION') durations.ar2diffusion_ms = rounded(spentMs);
      }
      if (recorder.diffusion === null) continue;
      durations.queue_wait_ms = rounded(recorder.diffusion.queueWaitMs);
      Object.assign(durations, recorder.diffusion.profileS);
    }
    return durations;
  }

  /** Highest memory of the request's diffusion stages, MB; `null` = it had none. */
  peakMemoryMb(): number | null {
    const peaks = this.#stages.flatMap(({ recorder }) => recorder.diffusion?.peakMemoryMb ?? []);
    return peaks.length === 0 ? null : Math.max(...peaks);
  }

  /** The replica that a stage of the request was given to; `null` = none yet. */
  replicaOf(stageId: number): number | null {
    return this.#stages.find(({ stage }) => stage.stageId === stageId)?.binding?.replicaId ?? null;
  }

  /**
   * Outputs that a stage has given and nobody has taken yet: held back by the window, or for what is due before them, or
   * on their way to the client.
   */
  queuedOutputs(stageId: number): number {
    const held = this.#held.filter(({ from }) => from === stageId).length;
    const early = this.#stages.find(({ stage }) => stage.stageId === stageId)?.early.length ?? 0;
    return held + early + [...this.#delayed.values()].filter(({ stage }) => stage.stageId === stageId).length;
  }

  /** Time spent between stages so far. */
  handOffTimes(): HandOffTime[] {
    return this.#stages.flatMap(({ handOffs }) =>
      handOffs.map(({ edge, spentMs }) => ({ edge, ms: spentMs })),
    );
  }

  #submit(progress: StageProgress): void {
    if (this.#ended || progress.binding !== null) return;
    const { id, acceptedMs, promptTokens, readTokens, params, task, source, paceByStage } = this.#request;
    const { stage } = progress;
    const { stageId, inputSources } = stage;
    const listener: StageListener = {
      onOutput: (output, timeMs) => this.#route(progress, output, timeMs),
      onProgress: (report) => {
        if (!this.#ended) this.#sink.onProgress?.(stage, report);
      },
      onFailure: (failure) => {
        if (!progress.recorder.finished) this.fail(failure);
      },
    };
    const { scheduler, preprocessMs } = this.#runtime;
    const hasUpstream = inputSources.length > 0;
    // The first stage has the request once that has been prepared; the others when they are told of it.
    progress.recorder.submitted(Math.max(scheduler.nowMs(), hasUpstream ? 0 : acceptedMs + preprocessMs));
    const result = progress.pool.submit(
      {
        id,
        acceptedMs,
        promptTokens,
        ...(readTokens === undefined ? {} : { readTokens }),
        params: this.#paramsOf(progress, params[stageId] ?? deployedParams),
        task: task ?? chatTask,
        source: source ?? null,
        pace: paceByStage?.[stageId] ?? 1,
        hasUpstream,
        fullPayload: !receivesChunks(stage, this.#runtime.asyncChunk),
      },
      listener,
    );
    if (isFailure(result)) {
      this.fail(result);
      return;
    }
    progress.binding = result.binding;
    progress.arrivalIndex = result.arrivalIndex;
  }

  /** A stage that only reads prompts makes one token, whatever the request wants of the one that decodes. */
  #paramsOf({ stage }: StageProgress, params: StageParams): StageParams {
    return stage.executionType === 'LLM_AR' && stage.role === 'prefill'
      ? { ...params, maxTokens: 1, minTokens: 0, stop: [] }
      : params;
  }

  #route(progress: StageProgress, output: StageOutput, timeMs: number): void {
    if (this.#ended) return;
    try {
      progress.recorder.output(output, timeMs);
      progress.nextDueMs = output.finishReason === null ? (output.nextDueMs ?? null) : null;
      if (output.finishReason !== null) progress.binding?.release();
      for (const handOff of progress.handOffs) this.#forward(progress, handOff, output);
      if (!progress.wanted || this.#ended) return;
      const { stage } = progress;
      if (stage.executionType === 'DIFFUSION' && stage.laws.overheadMs > 0)
        this.#replyLater(progress, output, stage.laws.overheadMs);
      else progress.early.push(output);
      this.#replyInOrder();
    } catch (error) {
      // A fault in one request's path must not stop the others that are due in the same turn.
      this.fail({ message: `Internal error: ${messageOf(error)}`, status: 500 });
    }
  }

  /**
   * A stage's output is not given to the client before what an earlier stage was due to give until then: with stages in
   * several processes, one that is behind may be overtaken, and speech would come before the text that it speaks.
   */
  #replyInOrder(): void {
    for (const progress of this.#stages) {
      const { early } = progress;
      for (let output = early[0]; output !== undefined; output = early[0]) {
        if (this.#isEarly(progress, output)) break;
        early.shift();
        this.#reply(progress, output);
        if (this.#ended) return;
      }
    }
  }

  #isEarly({ stage }: StageProgress, { dueMs }: StageOutput): boolean {
    return this.#stages.some(
      (other) =>
        other.wanted &&
        other.stage.stageId < stage.stageId &&
        other.nextDueMs !== null &&
        other.nextDueMs < dueMs,
    );
  }

  #reply(progress: StageProgress, output: StageOutput): void {
    if (output.finishReason !== null) this.#finalStagesLeft -= 1;
    const requestFinished = this.#finalStagesLeft === 0;
    if (requestFinished) this.#end();
    this.#sink.onOutput(progress.stage, output, requestFinished);
  }

  /** What a worker made reaches the client's side some time after the stage has finished. */
  #replyLater(progress: StageProgress, output: StageOutput, delayMs: number): void {
    const task: ScheduledTask = {
      dueMs: output.dueMs + delayMs,
      heapSlot: -1,
      run: () => {
        this.#delayed.delete(task);
        try {
          this.#reply(progress, output);
        } catch (error) {
          this.fail({ message: `Internal error: ${messageOf(error)}`, status: 500 });
        }
      },
    };
    this.#delayed.set(task, progress);
    this.#runtime.scheduler.add(task);
  }

  #forward(progress: StageProgress, handOff: HandOff, output: StageOutput): void {
    const { edge, adapter, bytesPerUnit, consumer } = handOff;
    const chunkId = adapter.chunkCount;
    const chunk = adapter.push(output);
    if (chunk === null) return;
    const startMs = nowMs();
    const { connector, ledger } = this.#runtime;
    const { id } = this.#request;
    let metadata: TransferMetadata;
    try {
      metadata = connector.put(edge, id, `${edge.from}_${chunkId}`, chunk, chunk.units * bytesPerUnit);
    } catch (error) {
      const message = `Stage ${edge.from} (${progress.stage.name}) cannot hand its output on: ${messageOf(error)}`;
      this.fail({ message, status: 500 });
      return;
    }
    ledger.sent(edge, metadata);
    const fetch = (): void => this.#fetch(edge, metadata, chunk.kv !== null);
    // Guidance needs all its prompts: an image is never begun with some of them.
    if (consumer.executionType === 'DIFFUSION' && this.#companions !== null) this.#companions.whenDone(fetch);
    else fetch();
    const spentMs = nowMs() - startMs;
    handOff.spentMs += spentMs;
    // The conversion of a whole output for the next stage; chunks are handed on as they are.
    if (!receivesChunks(consumer, this.#runtime.asyncChunk)) progress.recorder.postprocessed(spentMs);
  }

  /** Has the payload brought to its stage, as soon as the window has a place for the request. */
  #fetch(edge: Edge, metadata: TransferMetadata, hasKv: boolean): void {
    const next = this.#stages[edge.to];
    if (this.#ended || next === undefined) return;
    const bring = (): void => this.#bring(next, edge, metadata, hasKv);
    if (this.#held.length > 0 || this.#runtime.window?.enter(this, () => this.#releaseHeld()) === false)
      this.#held.push({ from: edge.from, bring });
    else bring();
  }

  #bring(next: StageProgress, edge: Edge, metadata: TransferMetadata, hasKv: boolean): void {
    if (this.#ended) return;
    const { stage } = next;
    if (stage.executionType === 'LLM_AR' && stage.role === 'decode' && !hasKv) {
      const message = `Stage ${stage.stageId} (${stage.name}) was given no KV cache by the stage before it.`;
      this.fail({ message, status: 500 });
      return;
    }
    const from = (): number | null => this.#stages[edge.from]?.binding?.replicaId ?? null;
    if (next.pool.isRemote) {
      this.#submit(next);
      next.binding?.sequence.fetch?.(edge, metadata, from());
      return;
    }
    this.#runtime.connector.get(edge, metadata, (delivery) => {
      if (this.#ended) return;
      if (delivery.kind !== 'payload') {
        const why = delivery.kind === 'gone' ? goneMessage : delivery.message;
        this.fail({ message: `Stage ${stage.stageId} (${stage.name}): ${why}`, status: 500 });
        return;
      }
      this.#submit(next);
      this.#runtime.ledger.received(edge, metadata, delivery, [from(), next.binding?.replicaId ?? null]);
      next.binding?.sequence.feed(delivery.chunk);
    });
  }

  #releaseHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const { bring } of held) bring();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const { binding } of this.#stages) {
      binding?.sequence.abort();
      binding?.release();
    }
    this.#companions?.end();
    for (const task of this.#delayed.keys()) this.#runtime.scheduler.remove(task);
    this.#held = [];
    for (const { early } of this.#stages) early.length = 0;
    this.#runtime.window?.release(this);
    this.#runtime.connector.cleanup(this.#request.id);
    this.#onEnd();
  }
}
