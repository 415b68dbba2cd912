import { nowMs } from '../../foundation/clock.ts';
import { UsageError } from '../../foundation/errors.ts';
import type { EngineStats, StageEngine } from '../engine/stage-engine.ts';
import type { Connector } from '../pipeline/connector.ts';
import type { Edge } from '../pipeline/transfer-metadata.ts';
import { type Broker, NoAnswerError } from './broker.ts';
import { ClockOffset } from './clock-offset.ts';
import {
  type Admission,
  admissions,
  type DeploymentFacts,
  decodeToWorker,
  encodeToHead,
  heartbeats,
  pulses,
  registrations,
  subjects,
  type ToHead,
} from './control-messages.ts';
import { HostedEngine } from './hosted-engine.ts';
import { Outbox } from './outbox.ts';

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
  readonly log: (line: string) => void;
};

const retryMs = 500;
const answerTimeoutMs = 5000;
/** Heartbeats in quick succession after joining, from which the clocks' offset is known well. */
const firstPulses = 6;

/** Why a worker does not belong to a head any more. */
type Parting = { readonly reason: string };

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
  #load = 0;
  #replicaId: number | null = null;
  #part: ((parting: Parting) => void) | null = null;

  constructor(options: StageWorkerOptions) {
    this.#options = options;
    const { broker, deployment, workerId, createEngine, createConnector } = options;
    this.#engine = createEngine(() => this.#load);
    this.#connector = createConnector(() => nowMs() + this.#offset.ms);
    this.#outbox = new Outbox((messages) =>
      broker.publish(subjects.toHead(deployment, workerId), encodeToHead(messages)),
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
      const { reason } = await this.#work(admission);
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

  /** @returns `null` once stopped */
  async #join(deadlineMs: number | null): Promise<Extract<Admission, { accepted: true }> | null> {
    const { broker, deployment, workerId, facts, stageId, hostId } = this.#options;
    const { kind } = this.#engine;
    this.#offset.reset();
    while (!this.#stopped.signal.aborted) {
      try {
        const request = { facts, workerId, stageId, replicaId: this.#replicaId, kind, hostId };
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
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        if (deadlineMs !== null && nowMs() > deadlineMs)
          throw new UsageError(
            `No server answers for ${facts.pipeline} at ${broker.address}. Start it with --stage-id 0 and the same ` +
              '--omni-master-address and --omni-master-port.',
          );
      }
      await this.#pause(retryMs);
    }
    return null;
  }

  /** Beats until something parts the worker from its head. */
  async #work(admission: Extract<Admission, { accepted: true }>): Promise<Parting> {
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
  async #beat({ headId }: Extract<Admission, { accepted: true }>): Promise<Parting | null> {
    const { broker, deployment, workerId } = this.#options;
    const sentMs = nowMs();
    try {
      const beat = heartbeats.encode({ workerId, stats: this.#hosted.stats() });
      const answer = await broker.request(subjects.heartbeat(deployment, headId), beat, answerTimeoutMs);
      const pulse = pulses.decode(answer);
      if (!pulse.known) return { reason: 'the server does not know the worker any more' };
      this.#offset.exchanged(sentMs, pulse.nowMs, nowMs());
      this.#load = pulse.load;
      return null;
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      return { reason: error.reason === 'nobody' ? 'the server is gone' : error.message };
    }
  }

  #told(bytes: Uint8Array): void {
    const { load, messages } = decodeToWorker(bytes);
    this.#load = load;
    for (const message of messages) {
      if (message.type === 'leave') this.#part?.({ reason: `let go: ${message.reason}` });
      else this.#hosted.told(message);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopped.signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}
