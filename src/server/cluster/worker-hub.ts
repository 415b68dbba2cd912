import { messageOf } from '../../foundation/errors.ts';
import type { EdgeTransport } from '../model/edge-transport.ts';
import type { Orchestrator } from '../pipeline/orchestrator.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import { BatchOrder } from './batch-order.ts';
import { type Broker, NoAnswerError } from './broker.ts';
import {
  type Admission,
  admissions,
  type DeploymentFacts,
  decodeToHead,
  encodeToWorker,
  heartbeats,
  presences,
  protocolOf,
  protocolVersion,
  pulses,
  type Registration,
  registrations,
  subjects,
  type ToWorker,
} from './control-messages.ts';
import { Outbox } from './outbox.ts';
import { RemoteEngine } from './remote-engine.ts';

export type WorkerHubOptions = {
  readonly broker: Broker;
  /** Names the deployment at the broker. */
  readonly deployment: string;
  readonly headId: string;
  readonly facts: DeploymentFacts;
  readonly stages: readonly StageDefinition[];
  /** Stages whose replicas may join. */
  readonly remoteStageIds: readonly number[];
  readonly transports: readonly EdgeTransport[];
  readonly hostId: string;
  readonly orchestrator: Orchestrator;
  readonly nowMs: () => number;
  /** Silence after which a worker counts as lost, ms. */
  readonly heartbeatTimeoutMs: number;
  /** Takes a line for the log. */
  readonly log: (line: string) => void;
};

/** How often the broker is asked whether a worker still listens, ms: a process that died is found within this. */
const pingMs = 500;

const messagesLost = 'messages from it did not arrive.';

type Member = {
  readonly engine: RemoteEngine;
  readonly stage: StageDefinition;
  readonly stopListening: () => void;
  readonly session: string;
  readonly batches: BatchOrder;
  readonly outbox: Outbox<ToWorker>;
  replicaId: number;
  lastHeardMs: number;
};

/**
 * The head's side of stage workers in other processes: takes in those that register, as replicas of their stage,
 * listens to their heartbeats, and has the pool drop those that are lost.
 */
export class WorkerHub {
  readonly #options: WorkerHubOptions;
  readonly #members = new Map<string, Member>();
  readonly #stops: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;

  /** Takes registrations from now on. */
  constructor(options: WorkerHubOptions) {
    this.#options = options;
    const { broker, deployment, headId, facts } = options;
    this.#stops.push(
      broker.answer(subjects.servers(), () => presences.encode(facts)),
      broker.answer(subjects.register(deployment), (request) => admissions.encode(this.#register(request))),
      broker.answer(subjects.heartbeat(deployment, headId), (request) => this.#heartbeat(request)),
      broker.watch((isUp) => {
        if (!isUp) this.#loseAll(`the connection to the broker ${broker.address} was lost.`);
      }),
    );
    this.#timer = setInterval(() => this.#check(), pingMs);
    this.#timer.unref();
  }

  /** Lets the workers go, who then look for another head. */
  close(): void {
    clearInterval(this.#timer);
    for (const stop of this.#stops) stop();
    for (const workerId of [...this.#members.keys()]) this.#release(workerId, 'the server shuts down');
  }

  #register(request: Uint8Array): Admission {
    const version = protocolOf(request);
    if (version !== null && version !== protocolVersion)
      return {
        accepted: false,
        reason:
          `It speaks version ${version} of the protocol between stages, the server version ${protocolVersion}. Run the ` +
          'same omnimeter in all processes of a deployment.',
      };
    try {
      const registration = registrations.decode(request);
      const problem = this.#problemOf(registration);
      return problem === null ? this.#admit(registration) : { accepted: false, reason: problem };
    } catch (error) {
      return { accepted: false, reason: `The registration cannot be read: ${messageOf(error)}` };
    }
  }

  #problemOf({ facts, stageId, hostId }: Registration): string | null {
    const { stages, remoteStageIds, transports } = this.#options;
    const own = Object.entries(this.#options.facts);
    const different = own.filter(([key, value]) =>
      Object.entries(facts).every(([k, v]) => k !== key || v !== value),
    );
    if (different.length > 0)
      return (
        `It is deployed otherwise than the server: ${different.map(([key, value]) => `${key} is ${String(value)} there`).join(', ')}. ` +
        'Start it with the flags of the server, and --stage-id and --headless.'
      );
    const stage = stages.find((each) => each.stageId === stageId);
    if (stage === undefined || !remoteStageIds.includes(stageId))
      return `Stage ${stageId} takes no workers; those that do: ${remoteStageIds.join(', ')}.`;
    const shared = transports.find(({ to, kind }) => to === stageId && kind === 'shared-memory');
    if (shared !== undefined && hostId !== this.#options.hostId)
      return (
        `Stage ${shared.from} reaches stage ${stageId} through shared memory (connector ${shared.connectorName ?? 'by default'}), ` +
        'but the worker is on another host: name a NatsConnector for the edge in the deployment file.'
      );
    return null;
  }

  #admit({ workerId, session, stageId, replicaId: wanted, kind }: Registration): Admission {
    const { broker, deployment, headId, nowMs, orchestrator, heartbeatTimeoutMs, log } = this.#options;
    const stage = this.#options.stages.find((each) => each.stageId === stageId);
    if (stage === undefined) return { accepted: false, reason: `There is no stage ${stageId}.` };
    // One that joins again has forgotten what it worked on.
    this.#members.get(workerId)?.engine.die('it joined again.');
    const batches = new BatchOrder();
    const outbox = new Outbox<ToWorker>((messages) =>
      broker.publish(
        subjects.toWorker(deployment, workerId),
        encodeToWorker({ session, batch: batches.next(), load: orchestrator.requestCount, messages }),
      ),
    );
    const engine = new RemoteEngine({
      kind,
      send: (message) => outbox.push(message),
      nowMs,
      onReceived: ({ edge, metadata, fromReplica, ...times }) =>
        orchestrator.transferred(edge, metadata, times, [
          fromReplica,
          this.#members.get(workerId)?.replicaId ?? null,
        ]),
      onClosed: () => this.#release(workerId, 'the server does not count on it any more'),
    });
    const stopListening = broker.subscribe(subjects.toHead(deployment, workerId), (message) =>
      this.#told(workerId, message),
    );
    const joined = { session, batches, replicaId: -1, lastHeardMs: nowMs() };
    const member: Member = { engine, stage, stopListening, outbox, ...joined };
    this.#members.set(workerId, member);
    member.replicaId = orchestrator.addReplica(stageId, engine, wanted) ?? -1;
    log(`stage ${stageId} (${stage.name}): worker ${workerId} joined as replica ${member.replicaId}`);
    const heartbeatMs = Math.min(5000, heartbeatTimeoutMs / 6);
    return { accepted: true, headId, replicaId: member.replicaId, heartbeatMs, nowMs: nowMs() };
  }

  #told(workerId: string, bytes: Uint8Array): void {
    const { session, batch, messages } = decodeToHead(bytes);
    const member = this.#members.get(workerId);
    if (member?.session !== session) return;
    const place = member.batches.received(batch);
    if (place === 'gap') this.#lose(workerId, messagesLost);
    if (place !== 'next') return;
    for (const message of messages) {
      // One of the messages may have parted it.
      if (this.#members.get(workerId) !== member) return;
      if (message.type === 'bye') this.#lose(workerId, message.reason);
      else member.engine.told(message);
    }
  }

  #heartbeat(request: Uint8Array): Uint8Array {
    const { workerId, session, batches, stats } = heartbeats.decode(request);
    const member = this.#members.get(workerId);
    const nowMs = this.#options.nowMs();
    const load = this.#options.orchestrator.requestCount;
    const stranger = { known: false, nowMs, load, batches: 0 };
    if (member?.session !== session) return pulses.encode(stranger);
    // A worker's messages come in the order in which it sent them, so that all before this one are here or nowhere.
    if (member.batches.misses(batches)) {
      this.#lose(workerId, messagesLost);
      return pulses.encode(stranger);
    }
    member.lastHeardMs = nowMs;
    member.engine.heard(stats);
    return pulses.encode({ known: true, nowMs, load, batches: member.batches.sent });
  }

  #check(): void {
    const { nowMs, heartbeatTimeoutMs, broker, deployment } = this.#options;
    for (const [workerId, member] of this.#members) {
      const silentMs = nowMs() - member.lastHeardMs;
      if (silentMs > heartbeatTimeoutMs) {
        this.#lose(workerId, `it was silent for ${(silentMs / 1000).toFixed(1)} s.`);
        continue;
      }
      broker
        .request(subjects.ping(deployment, workerId), new Uint8Array(0), heartbeatTimeoutMs)
        .catch((error: unknown) => {
          const isGone = error instanceof NoAnswerError && error.reason === 'nobody';
          // It may have joined again meanwhile.
          if (isGone && this.#members.get(workerId) === member) this.#lose(workerId, 'its process is gone.');
        });
    }
  }

  #loseAll(reason: string): void {
    for (const workerId of [...this.#members.keys()]) this.#lose(workerId, reason);
  }

  #lose(workerId: string, reason: string): void {
    const member = this.#members.get(workerId);
    if (member === undefined) return;
    const { stage, replicaId, engine } = member;
    this.#options.log(`stage ${stage.stageId} (${stage.name}): replica ${replicaId} was lost: ${reason}`);
    engine.die(reason);
  }

  /** The pool has dropped the worker: it shall stop, and join again where it can. */
  #release(workerId: string, reason: string): void {
    const member = this.#members.get(workerId);
    if (member === undefined) return;
    this.#members.delete(workerId);
    member.stopListening();
    // Past the engine, which sends nothing any more.
    member.outbox.push({ type: 'leave', reason });
    member.outbox.flush();
  }
}
