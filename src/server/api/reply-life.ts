import type { ServerResponse } from 'node:http';
import { FaultGate } from '../faults/fault-gate.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { PipelineRequest, ReplySink } from '../pipeline/pipeline-runtime.ts';
import { describeRun } from '../pipeline/run-summary.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';

/** What a route asks of the pipeline. */
export type RunRequest = Omit<PipelineRequest, 'id' | 'acceptedMs'>;

/** A run under way. */
export type StartedRun = {
  readonly run: PipelineRun;
  /** Stops it in every stage; harmless after its end. */
  abort(): void;
};

/** Between the last event and a reset. */
const resetDelayMs = 20;

/** Makes the ids of requests under way unique although callers may repeat theirs. */
let started = 0;

/** A request with the stage slowed down that a fault names. */
export function paced(request: RunRequest, fault: RequestFault | null): RunRequest {
  if (fault?.kind !== 'slow-stage') return request;
  return { ...request, paceByStage: { [fault.stageId]: fault.factor } };
}

/**
 * Starts a run.
 * @param makeSink gets what gives the run, once that exists: not before its first output
 */
export function submitRun(
  context: ApiContext,
  origin: { readonly id: string; readonly acceptedMs: number },
  request: RunRequest,
  makeSink: (run: () => PipelineRun) => ReplySink,
): StartedRun {
  const { id, acceptedMs } = origin;
  started += 1;
  let run: PipelineRun | null = null;
  const sink = makeSink(() => {
    if (run === null) throw new Error('A reply was written before its run had started');
    return run;
  });
  const watch = context.metrics.watch(
    { acceptedMs, promptTokens: request.promptTokens },
    sink,
    (stageId) => run?.replicaOf(stageId) ?? null,
  );
  const submitted = context.orchestrator.submit(
    { ...request, id: `${id}-${started}`, acceptedMs },
    watch.sink,
  );
  run = submitted;
  return {
    run: submitted,
    abort() {
      submitted.abort();
      watch.left();
    },
  };
}

/**
 * A reply from its request's acceptance until it has been sent, and the runs behind it. When the client goes away
 * before that, they are stopped in every stage.
 */
export class ReplyLife {
  readonly accepted: AcceptedRequest;
  readonly #context: ApiContext;
  readonly #runs: StartedRun[] = [];
  readonly #onGone: (() => void)[] = [];
  readonly #onOver: (() => void)[] = [];
  #fault: RequestFault | null;
  #replied = false;
  #gone = false;

  constructor(context: ApiContext, accepted: AcceptedRequest, fault: RequestFault | null) {
    this.#context = context;
    this.accepted = accepted;
    this.#fault = fault;
    const { response } = accepted;
    // The client may have left while its prompt was read.
    if (response.destroyed || response.closed) this.#leave();
    else response.on('close', () => this.#leave());
  }

  /** What goes wrong with it on purpose; `null` = nothing, or nothing more. */
  get fault(): RequestFault | null {
    return this.#fault;
  }

  /** The route has seen to the fault itself: its reply goes out as usual. */
  spendFault(): void {
    this.#fault = null;
  }

  get response(): ServerResponse {
    return this.accepted.response;
  }

  /** Whether the client has left before its reply was complete. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Calls back when the client leaves, at once where it has. */
  whenGone(callback: () => void): void {
    if (this.#gone) callback();
    else this.#onGone.push(callback);
  }

  /** Calls back when the reply has been sent or the client has left, at once where that is so. */
  whenOver(callback: () => void): void {
    if (this.#gone || this.#replied) callback();
    else this.#onOver.push(callback);
  }

  /** Starts a run, unless the client has left. */
  start(request: RunRequest, makeSink: (run: () => PipelineRun) => ReplySink): void {
    if (this.#gone) return;
    this.#runs.push(submitRun(this.#context, this.accepted, paced(request, this.#fault), makeSink));
  }

  /** The reply has been sent. */
  end(): void {
    if (this.#replied || this.#gone) return;
    this.#replied = true;
    for (const callback of this.#onOver) callback();
    const { logLine } = this.#context;
    if (logLine === null) return;
    const { id, acceptedMs } = this.accepted;
    for (const { run } of this.#runs) logLine(describeRun(id, acceptedMs, run));
  }

  /** Stops the runs: the reply ends, or has ended, without their output. */
  abort(): void {
    for (const run of this.#runs) run.abort();
  }

  /**
   * What stands before the events of this reply; `null` = nothing goes wrong.
   * @param fail writes an error and ends the reply
   */
  gate(fail: () => void): FaultGate | null {
    if (this.#fault === null) return null;
    return new FaultGate(this.#fault, {
      reset: () => {
        const { socket } = this.response;
        // A reset takes back what the client has not read yet; so it is given time to.
        setTimeout(
          () => (socket === null ? this.response.destroy() : socket.resetAndDestroy()),
          resetDelayMs,
        );
      },
      fail: () => {
        this.abort();
        fail();
      },
    });
  }

  #leave(): void {
    if (this.#replied || this.#gone) return;
    this.#gone = true;
    this.accepted.truth.note('abort');
    this.abort();
    for (const callback of this.#onGone) callback();
    for (const callback of this.#onOver) callback();
  }
}
