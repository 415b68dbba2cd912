import { setTimeout as pause } from 'node:timers/promises';
import { nowMs } from '../../foundation/clock.ts';
import { UsageError } from '../../foundation/errors.ts';
import type { EngineStats, StageEngine } from '../engine/stage-engine.ts';
import type { Connector } from '../pipeline/connector.ts';
import type { Edge } from '../pipeline/transfer-metadata.ts';
import { BatchOrder } from './batch-order.ts';
import { type Broker, NoAnswerError } from './broker.ts';
import { ClockOffset } from './clock-offset.ts';
import {
  type Admission,
  admissions,
  type DeploymentFacts,
  decodeToWorker,
  encodeToHead,
  heartbeats,
  type Presence,
  presences,
  pulses,
  registrations,
  subjects,
  type ToHead,
} from './control-messages.ts';
import { HostedEngine } from './hosted-engine.ts';
import { Outbox } from './outbox.ts';
import { newProcessId } from './process-id.ts';

export type StageWorkerOptions = {
  readonly broker: Broker;
  readonly deployment: string;
  readonly workerId: string;
  readonly facts: DeploymentFacts;
  readonly stageId: number;
  readonly stageName: string;
  readonly hostId: string;
  /** Makes the engine; `load` = requests under way in the whole pipeline. */
  readonly createEngine: (load: () => number) => StageEngine;
  /** Fetches what the head puts; `headNowMs` is the head's clock. */
  readonly createConnector: (headNowMs: () => number) => Connector;
  readonly inputEdges: readonly Edge[];
  /** How long the head may be away before the first admission, ms. */
  readonly startTimeoutMs: number;
  /** Starts the server that the worker belongs to, for who has to. */
  readonly serverCommand: string;
  readonly log: (line: string) => void;
};

const retryMs = 500;
const answerTimeoutMs = 5000;
/** Heartbeats in quick succession after joining, from which the clocks' offset is known well. */
const firstPulses = 6;

type Admitted = Extract<Admission, { accepted: true }>;

/** Why a worker does not belong to a head any more. */
type Parting = {
  readonly reason: string;
  /** For a head that does not know yet, in its words. */
  readonly farewell?: string;
};

const messagesLost: Parting = {
  reason: 'messages of the server did not arrive',
  farewell: 'messages to it did not arrive.',
};

/**
 * One replica of one stage in a process of its own: joins a head through the broker, works for it, and joins again
 * whenever the head or the broker was away.
 */
export class StageWorker {
  readonly #options: StageWorkerOptions;
  readonly #offset = new ClockOffset();
  readonly #engine: StageEngine;
  readonly #connector: Connector;
  readonly #outbox: Outbox<ToHead>;
  readonly #hosted: HostedEngine;
  readonly #stops: (() => void)[] = [];
  readonly #stopped = new AbortController();
  /** Of the last time that it asked to join; what is said in another one is out of date. */
  #session = newProcessId();
  #batches = new BatchOrder();
  #load = 0;
  #replicaId: number | null = null;
  #part: ((parting: Parting) => void) | null = null;

  constructor(options: StageWorkerOptions) {
    this.#options = options;
    const { broker, deployment, workerId, createEngine, createConnector } = options;
    this.#engine = createEngine(() => this.#load);
    this.#connector = createConnector(() => nowMs() + this.#offset.ms);
    this.#outbox = new Outbox((messages) =>
      broker.publish(
        subjects.toHead(deployment, workerId),
        encodeToHead({ session: this.#session, batch: this.#batches.next(), messages }),
      ),
    );
    this.#hosted = new HostedEngine({
      engine: this.#engine,
      connector: this.#connector,
      offset: this.#offset,
      inputEdges: options.inputEdges,
      send: (message) => this.#outbox.push(message),
    });
    // There before it registers, so that nothing is said to nobody.
    this.#stops.push(
      broker.subscribe(subjects.toWorker(deployment, workerId), (message) => this.#told(message)),
      broker.answer(subjects.ping(deployment, workerId), () => new Uint8Array(0)),
      broker.watch((isUp) => {
        if (!isUp) this.#part?.({ reason: 'the connection to the broker was lost' });
      }),
    );
  }

  /**
   * Works until {@link stop}.
   * @throws UsageError where the head refuses the worker, or does not answer before the start is over
   */
  async run(): Promise<void> {
    const { stageId, stageName, log } = this.#options;
    let deadlineMs: number | null = nowMs() + this.#options.startTimeoutMs;
    while (!this.#stopped.signal.aborted) {
      const admission = await this.#join(deadlineMs);
      if (admission === null) break;
      deadlineMs = null;
      this.#replicaId = admission.replicaId;
      log(`stage ${stageId} (${stageName}): joined as replica ${admission.replicaId}`);
      const { reason, farewell } = await this.#work(admission);
      if (farewell !== undefined) this.#outbox.push({ type: 'bye', reason: farewell });
      this.#hosted.abortAll();
      if (!this.#stopped.signal.aborted) log(`stage ${stageId} (${stageName}): ${reason}; joining again`);
    }
  }

  stats(): EngineStats {
    return this.#hosted.stats();
  }

  /** Takes leave of the head, so that it need not wait for heartbeats. */
  stop(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#outbox.push({ type: 'bye', reason: 'its process ended.' });
    this.#outbox.flush();
    this.#part?.({ reason: 'stopped' });
    for (const stop of this.#stops) stop();
    this.#hosted.abortAll();
    this.#engine.close();
    this.#connector.close();
  }

  /**
   * Asks for admission until there is a server.
   * @param deadlineMs `null` = however long that takes
   * @returns `null` once stopped
   */
  async #join(deadlineMs: number | null): Promise<Admitted | null> {
    const { stageId, stageName, log } = this.#options;
    let told = false;
    while (!this.#stopped.signal.aborted) {
      try {
        const admission = await this.#register();
        return this.#stopped.signal.aborted ? null : admission;
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        if (this.#stopped.signal.aborted) return null;
        // One that had a server knows that it fits; its server may come back beside others.
        if (deadlineMs !== null && error.reason === 'nobody') await this.#refuseStrangers();
        if (deadlineMs !== null && nowMs() > deadlineMs) throw new UsageError(this.#missingServer(error));
        if (!told)
          log(
            `stage ${stageId} (${stageName}): waits${deadlineMs === null ? '' : ` up to ${this.#options.startTimeoutMs / 1000} s`}. ` +
              this.#missingServer(error),
          );
        told = true;
      }
      await pause(retryMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
    return null;
  }

  #missingServer({ reason }: NoAnswerError): string {
    const { broker, facts, serverCommand } = this.#options;
    return reason === 'down'
      ? `The broker ${broker.address} cannot be reached.`
      : `No server of ${facts.pipeline} answers at ${broker.address}. Start it: ${serverCommand}`;
  }

  /** @throws UsageError where the server refuses the worker, NoAnswerError where there is none */
  async #register(): Promise<Admitted> {
    const { broker, deployment, workerId, facts, stageId, hostId } = this.#options;
    const { kind } = this.#engine;
    // Whatever an earlier attempt may have led to is void.
    this.#outbox.flush();
    this.#hosted.abortAll();
    this.#offset.reset();
    this.#batches = new BatchOrder();
    this.#session = newProcessId();
    const session = this.#session;
    const request = { facts, workerId, session, stageId, replicaId: this.#replicaId, kind, hostId };
    const sentMs = nowMs();
    const answer = await broker.request(
      subjects.register(deployment),
      registrations.encode(request),
      answerTimeoutMs,
    );
    const admission = admissions.decode(answer);
    if (!admission.accepted) throw new UsageError(`The server refuses the worker: ${admission.reason}`);
    this.#offset.exchanged(sentMs, admission.nowMs, nowMs());
    return admission;
  }

  /** @throws UsageError where the broker's server is another's */
  async #refuseStrangers(): Promise<void> {
    const { broker, facts, serverCommand } = this.#options;
    let other: Presence;
    try {
      other = presences.decode(await broker.request(subjects.servers(), new Uint8Array(0), answerTimeoutMs));
    } catch (error) {
      if (error instanceof NoAnswerError) return;
      throw error;
    }
    if (other.pipeline === facts.pipeline) return;
    throw new UsageError(
      `The server at ${broker.address} runs ${other.pipeline} (${other.model}), not ${facts.pipeline} (${facts.model}). ` +
        'Start the worker with the flags of the server, and --stage-id and --headless; or start the server that it ' +
        `belongs to first: ${serverCommand}`,
    );
  }

  /** Beats until something parts the worker from its head. */
  async #work(admission: Admitted): Promise<Parting> {
    let parting: Parting | null = null;
    let wake = (): void => {};
    this.#part = (given) => {
      parting ??= given;
      wake();
    };
    let beats = 0;
    while (parting === null) {
      parting ??= await this.#beat(admission);
      if (parting !== null) break;
      beats += 1;
      const pauseMs = beats < firstPulses ? 10 : admission.heartbeatMs;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (this.#stopped.signal.aborted) wake();
      });
    }
    this.#part = null;
    return parting;
  }

  /** @returns why the head is lost; `null` = it is there */
  async #beat({ headId }: Admitted): Promise<Parting | null> {
    const { broker, deployment, workerId } = this.#options;
    const sentMs = nowMs();
    try {
      const beat = heartbeats.encode({
        workerId,
        session: this.#session,
        batches: this.#batches.sent,
        stats: this.#hosted.stats(),
      });
      const answer = await broker.request(subjects.heartbeat(deployment, headId), beat, answerTimeoutMs);
      const pulse = pulses.decode(answer);
      if (!pulse.known) return { reason: 'the server does not know the worker any more' };
      if (this.#batches.misses(pulse.batches)) return messagesLost;
      this.#offset.exchanged(sentMs, pulse.nowMs, nowMs());
      this.#load = pulse.load;
      return null;
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      return { reason: error.reason === 'nobody' ? 'the server is gone' : error.message };
    }
  }

  #told(bytes: Uint8Array): void {
    const { session, batch, load, messages } = decodeToWorker(bytes);
    if (session !== this.#session) return;
    const place = this.#batches.received(batch);
    if (place === 'gap') this.#part?.(messagesLost);
    if (place !== 'next') return;
    this.#load = load;
    for (const message of messages) {
      if (message.type === 'leave') this.#part?.({ reason: `let go: ${message.reason}` });
      else this.#hosted.told(message);
    }
  }
}
