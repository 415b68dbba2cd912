import type { StageEngine } from '../engine/stage-engine.ts';
import type { ConnectorHealth } from './connector.ts';
import { PipelineRun } from './pipeline-run.ts';
import type { PipelineRequest, PipelineRuntime, ReplySink } from './pipeline-runtime.ts';
import type { StagePool, StagePoolStats } from './stage-pool.ts';
import type { TransferLedger, TransferStats } from './transfer-ledger.ts';

export type OrchestratorStats = {
  /** Requests under way. */
  readonly requests: number;
  readonly stages: readonly (StagePoolStats & {
    /** Outputs that the replica has given and nobody has taken yet. */
    readonly outputsQueued: number;
  })[];
  readonly transfers: readonly TransferStats[];
  /** Payloads between stages at this moment. */
  readonly payloadsInFlight: number;
  readonly connector: ConnectorHealth & { readonly name: string };
};

/** Owns the progress of all requests through the stages. */
export class Orchestrator {
  readonly #runtime: PipelineRuntime;
  readonly #runs = new Map<string, PipelineRun>();

  constructor(runtime: PipelineRuntime) {
    this.#runtime = runtime;
  }

  /** Requests under way. */
  get requestCount(): number {
    return this.#runs.size;
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

  /**
   * What to tell who asks for these outputs where a stage on their way has no live replica; `null` = all have one.
   */
  deathOnTheWay(finalStageIds: readonly number[]): string | null {
    const last = Math.max(...finalStageIds);
    const dead = this.#runtime.pools.find((pool) => pool.stage.stageId <= last && !pool.hasLiveReplica());
    return dead?.deathMessage() ?? null;
  }

  /**
   * Takes in a replica of a stage, in the slot that it names where that is free.
   * @returns its id, or `null` where there is no such stage
   */
  addReplica(stageId: number, engine: StageEngine, replicaId: number | null = null): number | null {
    return this.#pool(stageId)?.addReplica(engine, replicaId) ?? null;
  }

  /**
   * Drops a replica as if it had died: the requests that are bound to it fail, and no others.
   * @returns whether there was such a replica
   */
  removeReplica(stageId: number, replicaId: number, reason: string): boolean {
    return this.#pool(stageId)?.removeReplica(replicaId, reason) ?? false;
  }

  /**
   * Kills a live replica of a stage, as a crash would.
   * @returns its id, or `null` where none lives
   */
  killReplica(stageId: number, reason = 'its process died.'): number | null {
    const live = this.#pool(stageId)
      ?.stats()
      .find(({ alive }) => alive);
    if (live === undefined) return null;
    this.removeReplica(stageId, live.replicaId, reason);
    return live.replicaId;
  }

  /**
   * Starts a lost replica again, in its old slot.
   * @returns whether there is such a stage, and the slot was free
   */
  restoreReplica(stageId: number, replicaId: number): boolean {
    const pool = this.#pool(stageId);
    // A replica in another process comes back by itself.
    if (pool === undefined || pool.isRemote || pool.stats()[replicaId]?.alive !== false) return false;
    return pool.addReplica(this.#runtime.createReplica(pool.stage), replicaId) === replicaId;
  }

  /** A payload reached a stage in another process. */
  transferred(...transfer: Parameters<TransferLedger['received']>): void {
    this.#runtime.ledger.received(...transfer);
  }

  stats(): OrchestratorStats {
    const { pools, connector, ledger } = this.#runtime;
    return {
      requests: this.#runs.size,
      stages: pools.flatMap((pool) =>
        pool.stats().map((stage) => ({ ...stage, outputsQueued: this.#outputsQueued(stage) })),
      ),
      transfers: ledger.stats(),
      payloadsInFlight: connector.inFlight(),
      connector: { name: connector.name, ...connector.health() },
    };
  }

  /** Fails every request under way and closes the engines. */
  close(): void {
    const failure = { message: 'The server is shutting down.', status: 503 };
    for (const run of [...this.#runs.values()]) run.fail(failure);
    for (const pool of this.#runtime.pools) pool.close();
    this.#runtime.connector.close();
  }

  #outputsQueued({ stageId, replicaId }: StagePoolStats): number {
    let queued = 0;
    for (const run of this.#runs.values())
      if (run.replicaOf(stageId) === replicaId) queued += run.queuedOutputs(stageId);
    return queued;
  }

  #pool(stageId: number): StagePool | undefined {
    return this.#runtime.pools.find(({ stage }) => stage.stageId === stageId);
  }
}
