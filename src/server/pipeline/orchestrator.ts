import type { TransferStats } from './connector.ts';
import { type PipelineRequest, PipelineRun, type PipelineRuntime, type ReplySink } from './pipeline-run.ts';
import type { StagePoolStats } from './stage-pool.ts';

export type OrchestratorStats = {
  /** Requests under way. */
  readonly requests: number;
  readonly stages: readonly StagePoolStats[];
  readonly transfers: readonly TransferStats[];
  /** Payloads between stages at this moment. */
  readonly payloadsInFlight: number;
};

/** Owns the progress of all requests through the stages. */
export class Orchestrator {
  readonly #runtime: PipelineRuntime;
  readonly #runs = new Map<string, PipelineRun>();

  constructor(runtime: PipelineRuntime) {
    this.#runtime = runtime;
  }

  /**
   * Starts a request. The sink hears of outputs on later turns; of a stage without a live replica at once.
   * @param request its id must not be that of a request under way
   */
  submit(request: PipelineRequest, sink: ReplySink): PipelineRun {
    const run = new PipelineRun(this.#runtime, request, sink, () => this.#runs.delete(request.id));
    this.#runs.set(request.id, run);
    run.start();
    return run;
  }

  /** Whether every stage has a live replica, so that new requests can be served. */
  isAlive(): boolean {
    return this.#runtime.pools.every((pool) => pool.hasLiveReplica());
  }

  stats(): OrchestratorStats {
    const { pools, connector } = this.#runtime;
    return {
      requests: this.#runs.size,
      stages: pools.flatMap((pool) => pool.stats()),
      transfers: connector.stats(),
      payloadsInFlight: connector.inFlight(),
    };
  }

  /** Fails every request under way and closes the engines. */
  close(): void {
    const failure = { message: 'The server is shutting down.', status: 503 };
    for (const run of [...this.#runs.values()]) run.fail(failure);
    for (const pool of this.#runtime.pools) pool.close();
  }
}
