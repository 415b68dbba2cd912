import type {
  EngineStats,
  StageEngine,
  StageListener,
  StageRequest,
  StageSequence,
} from '../engine/stage-engine.ts';
import type { StageDefinition } from './pipeline-definition.ts';

/** A request bound to a replica of a stage. */
export type StageBinding = { readonly replicaId: number; readonly sequence: StageSequence };

export type StagePoolStats = EngineStats & { readonly stageId: number; readonly replicaId: number };

/** The replicas of one stage. A request stays with the replica that it was given; slots are never renumbered. */
export class StagePool {
  readonly stage: StageDefinition;
  readonly #replicas: readonly StageEngine[];
  #nextReplica = 0;
  #arrivals = 0;

  constructor(stage: StageDefinition, replicas: readonly StageEngine[]) {
    this.stage = stage;
    this.#replicas = replicas;
  }

  hasLiveReplica(): boolean {
    return this.#replicas.some((replica) => replica.isAlive());
  }

  /** Binds the request to the next live replica in turn; `null` = there is none. */
  submit(request: Omit<StageRequest, 'arrivalIndex'>, listener: StageListener): StageBinding | null {
    for (let tried = 0; tried < this.#replicas.length; tried += 1) {
      const replicaId = this.#nextReplica;
      this.#nextReplica = (this.#nextReplica + 1) % this.#replicas.length;
      const engine = this.#replicas[replicaId];
      if (engine === undefined || !engine.isAlive()) continue;
      const arrivalIndex = this.#arrivals;
      this.#arrivals += 1;
      return { replicaId, sequence: engine.submit({ ...request, arrivalIndex }, listener) };
    }
    return null;
  }

  stats(): StagePoolStats[] {
    return this.#replicas.map((engine, replicaId) => ({
      stageId: this.stage.stageId,
      replicaId,
      ...engine.stats(),
    }));
  }

  close(): void {
    for (const engine of this.#replicas) engine.close();
  }
}
