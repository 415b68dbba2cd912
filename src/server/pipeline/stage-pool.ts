import { messageOf } from '../../foundation/errors.ts';
import type {
  EngineStats,
  StageEngine,
  StageFailure,
  StageListener,
  StageRequest,
  StageSequence,
} from '../engine/stage-engine.ts';
import type { StageDefinition } from './pipeline-definition.ts';

/** A request bound to a replica of a stage. */
export type StageBinding = {
  readonly replicaId: number;
  readonly sequence: StageSequence;
  /** The replica's death does not concern the request any more. Harmless when repeated. */
  release(): void;
};

export type StagePoolStats = EngineStats & {
  readonly stageId: number;
  readonly replicaId: number;
  readonly alive: boolean;
};

/** A place for a replica, which stays when the replica is lost. */
type Slot = { engine: StageEngine | null; readonly bound: Set<StageListener> };

const nothing: EngineStats = { running: 0, waiting: 0, waitingForChunk: 0 };

/**
 * The replicas of one stage. A request stays with the replica that it was given; requests are given to live replicas
 * in turn. Slots are never renumbered: a lost replica leaves a hole, which a new one may fill.
 */
export class StagePool {
  readonly stage: StageDefinition;
  /** Its replicas are in other processes, which fetch their input themselves. */
  readonly isRemote: boolean;
  readonly #adviceWhenDead: () => string;
  readonly #slots: Slot[] = [];
  #nextReplica = 0;
  #arrivals = 0;

  /**
   * @param replicas none where they join from other processes
   * @param adviceWhenDead what to do where no replica lives; follows the sentence that says so
   */
  constructor(
    stage: StageDefinition,
    replicas: readonly StageEngine[],
    adviceWhenDead: () => string = () => '',
  ) {
    this.stage = stage;
    this.#adviceWhenDead = adviceWhenDead;
    this.isRemote = replicas.length === 0;
    for (const engine of replicas) this.addReplica(engine);
  }

  hasLiveReplica(): boolean {
    return this.#slots.some(({ engine }) => engine?.isAlive() === true);
  }

  /** That no replica lives, and what to do. */
  deathMessage(): string {
    const { stageId, name } = this.stage;
    const advice = this.#adviceWhenDead();
    return `Stage ${stageId} (${name}) has no live replica.${advice === '' ? '' : ` ${advice}`}`;
  }

  /**
   * Takes in a replica: in the slot that it names where that is free, else in the first hole, else in a new one.
   * @returns its id
   */
  addReplica(engine: StageEngine, wantedId: number | null = null): number {
    const isHole = (id: number): boolean => this.#slots[id]?.engine === null;
    const hole = this.#slots.findIndex(({ engine: held }) => held === null);
    const replicaId =
      wantedId !== null && isHole(wantedId) ? wantedId : hole >= 0 ? hole : this.#slots.length;
    const slot = this.#slots[replicaId] ?? { engine: null, bound: new Set() };
    slot.engine = engine;
    this.#slots[replicaId] = slot;
    engine.onDeath?.((reason) => {
      if (slot.engine === engine) this.removeReplica(replicaId, reason);
    });
    return replicaId;
  }

  /**
   * Evicts a replica and fails the requests that are bound to it, and no others.
   * @returns whether there was one
   */
  removeReplica(replicaId: number, reason: string): boolean {
    const slot = this.#slots[replicaId];
    if (slot === undefined || slot.engine === null) return false;
    const { engine } = slot;
    slot.engine = null;
    const bound = [...slot.bound];
    slot.bound.clear();
    const { stageId, name } = this.stage;
    const message = `Replica ${replicaId} of stage ${stageId} (${name}) was lost: ${reason}`;
    for (const listener of bound) listener.onFailure({ message, status: 500 });
    engine.close();
    return true;
  }

  /**
   * Binds the request to the next live replica in turn, or to `preferred` while that lives.
   * @returns the failure where there is no live replica, or the replica refused
   */
  submit(
    request: Omit<StageRequest, 'arrivalIndex'>,
    listener: StageListener,
    preferred: { readonly replicaId: number; readonly arrivalIndex: number } | null = null,
  ): { readonly binding: StageBinding; readonly arrivalIndex: number } | StageFailure {
    const replicaId = this.#select(preferred?.replicaId ?? null);
    const slot = replicaId === null ? undefined : this.#slots[replicaId];
    const { stageId, name } = this.stage;
    if (replicaId === null || slot === undefined || slot.engine === null)
      return { message: this.deathMessage(), status: 500 };
    const arrivalIndex = preferred?.arrivalIndex ?? this.#arrivals;
    if (preferred === null) this.#arrivals += 1;
    try {
      const sequence = slot.engine.submit({ ...request, arrivalIndex }, listener);
      slot.bound.add(listener);
      const release = (): void => {
        slot.bound.delete(listener);
      };
      return { binding: { replicaId, sequence, release }, arrivalIndex };
    } catch (error) {
      return { message: `Stage ${stageId} (${name}): ${messageOf(error)}`, status: 500 };
    }
  }

  stats(): StagePoolStats[] {
    return this.#slots.map(({ engine }, replicaId) => ({
      stageId: this.stage.stageId,
      replicaId,
      alive: engine?.isAlive() === true,
      ...(engine?.stats() ?? nothing),
    }));
  }

  close(): void {
    for (const { engine } of this.#slots) engine?.close();
  }

  #select(preferred: number | null): number | null {
    const isLive = (id: number): boolean => this.#slots[id]?.engine?.isAlive() === true;
    if (preferred !== null && isLive(preferred)) return preferred;
    for (let tried = 0; tried < this.#slots.length; tried += 1) {
      const replicaId = this.#nextReplica % this.#slots.length;
      this.#nextReplica = (replicaId + 1) % this.#slots.length;
      if (isLive(replicaId)) return replicaId;
    }
    return null;
  }
}
