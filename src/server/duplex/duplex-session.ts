import { Assistant } from './assistant.ts';
import { DuplexError, errorEvent } from './duplex-error.ts';
import type { EventWire } from './duplex-event.ts';
import { describeSession } from './duplex-lines.ts';
import { sessionEndOf } from './duplex-observer.ts';
import type { ScriptedAction } from './duplex-script.ts';
import { checkReconfiguration, readSessionConfig, requireRefAudio } from './session-config.ts';
import type { SessionCore } from './session-core.ts';
import { type ClientEvent, eventHandlers } from './session-events.ts';
import { modelCapabilities, sessionObject } from './session-object.ts';
import { UserInput } from './user-input.ts';

/** Why a session is over. */
export type SessionEndReason = 'client_close' | 'disconnect' | 'timeout' | 'transport_error' | 'shutdown';

/** A full-duplex conversation: what it does depends on the events that it is given and on its scheduler's clock alone. */
export class DuplexSession {
  readonly core: SessionCore;
  readonly assistant: Assistant;
  readonly input: UserInput;
  readonly #onEnded: (session: DuplexSession) => void;
  #generation = 0;
  #resumeToken: string;
  #ended = false;
  /** Configured by its client, or started by the server and not configured yet. */
  #configured: boolean;
  #pendingActions: ScriptedAction[];
  #acks = 0;
  #lastEventMs: number;
  #cancelGrace: (() => void) | null = null;
  #cancelIdle: (() => void) | null = null;
  readonly #graceMs: number;

  constructor(
    core: SessionCore,
    given: {
      readonly configured: boolean;
      /** How long a session without a socket is kept, ms. */
      readonly graceMs: number;
      onEnded(session: DuplexSession): void;
    },
  ) {
    this.core = core;
    this.#configured = given.configured;
    this.#graceMs = given.graceMs;
    this.#onEnded = given.onEnded;
    this.#resumeToken = core.parts.newId();
    this.#pendingActions = [...core.script.actions];
    this.#lastEventMs = core.tasks.nowMs();
    this.assistant = new Assistant(core);
    this.input = new UserInput(core, this.assistant, {
      heard: (mediaMs) => this.#act(({ at_ms: atMs }) => atMs !== undefined && atMs <= mediaMs),
      committed: () => this.#act(({ at_ms: atMs }) => atMs === undefined),
    });
    this.#watchIdle();
  }

  get id(): string {
    return this.core.id;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get resumeToken(): string {
    return this.#resumeToken;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Whether it has a socket. */
  get attached(): boolean {
    return this.core.outbox.wire !== null;
  }

  /** Whether events leave by this socket. */
  isOn(wire: EventWire): boolean {
    return this.core.outbox.wire === wire;
  }

  /** The first socket of the session. */
  open(wire: EventWire): void {
    this.#attach(wire);
    this.core.emit({
      type: 'session.created',
      attachment_generation: this.#generation,
      resume_token: this.#resumeToken,
      session: this.#object(),
    });
    this.tellUpdated();
  }

  /**
   * Another socket of the session: it learns what it missed.
   * @param lastSeq of what it has
   */
  resume(wire: EventWire, lastSeq: number): void {
    const { outbox } = this.core;
    const gap = outbox.gapAfter(lastSeq);
    const old = outbox.wire;
    if (old !== null) {
      outbox.tell({ type: 'session.replaced', session_id: this.id, attachment_generation: this.#generation });
      outbox.detach();
      old.close(1000, 'replaced');
    }
    this.#attach(wire);
    this.#resumeToken = this.core.parts.newId();
    // Without a place in the order: what is replayed after it comes before it there.
    outbox.tell({
      type: 'session.resumed',
      session_id: this.id,
      session: this.#object(),
      attachment_generation: this.#generation,
      resume_token: this.#resumeToken,
    });
    if (gap === null) outbox.replayAfter(lastSeq);
    else outbox.tell({ type: 'session.resync_required', session_id: this.id, reason: gap });
  }

  /** The socket is gone; the session waits for another. */
  detach(wire: EventWire): void {
    if (this.#ended || !this.isOn(wire)) return;
    this.core.outbox.detach();
    this.#cancelGrace = this.core.tasks.later(this.#graceMs, () => this.end('disconnect'));
  }

  /** Applies an event. What is wrong with it, its sender reads; the session stays. */
  handle(event: ClientEvent): void {
    this.#lastEventMs = this.core.tasks.nowMs();
    try {
      this.#apply(event);
    } catch (error) {
      const known = error instanceof DuplexError;
      if (!known) console.error(error);
      this.refuse(
        known ? error : new DuplexError('internal_error', 'Internal error of the server; its log says more.'),
        event,
      );
    }
  }

  /** Tells the client that something of its own was not taken. */
  refuse(error: DuplexError, event: ClientEvent | null): void {
    const id = event?.event_id;
    this.core.emit(errorEvent(error, typeof id === 'string' ? id : null));
  }

  /** @param reason as the client is told */
  end(reason: SessionEndReason | (string & {})): void {
    if (this.#ended) return;
    const { outbox } = this.core;
    this.#stop(reason);
    const event = { type: 'session.closed', session_id: this.id, reason };
    this.core.emit({ ...event, event });
    const { wire } = outbox;
    outbox.detach();
    wire?.close(1000, reason);
    this.#onEnded(this);
  }

  #stop(reason: string): void {
    const { core, assistant } = this;
    this.#ended = true;
    assistant.stop(sessionEndOf(reason));
    core.tasks.clear();
    core.parts.observer.sessionEnded(reason, sessionEndOf(reason), core.openedMs);
    core.parts.logLine?.(
      describeSession(
        {
          sessionId: core.id,
          totalMs: core.tasks.nowMs() - core.openedMs,
          inputMs: core.clock.mediaMs,
          units: core.clock.units,
          turns: core.turnId,
          responses: assistant.begun,
          epochs: core.epoch,
        },
        reason,
      ),
    );
  }

  /** The lease has run out. */
  expire(reason: string): void {
    if (this.#ended) return;
    this.core.emit({ type: 'session.expired', session_id: this.id, reason });
    this.end('timeout');
  }

  /** Tells what holds now. */
  tellUpdated(): void {
    this.core.emit({ type: 'session.updated', session: this.#object() });
  }

  /** @throws DuplexError */
  update(session: unknown): void {
    const { core } = this;
    if (typeof session === 'object' && session !== null && 'persona' in session)
      throw new DuplexError('persona_update_unsupported', 'A session keeps its persona.', 'persona');
    const next = readSessionConfig(session, core.config, core.parts.modelDecides);
    const heardAudio = core.clock.mediaMs > 0;
    checkReconfiguration(core.config, next, { heardAudio, configured: this.#configured });
    if (core.parts.modelDecides) requireRefAudio(next);
    this.#configured = true;
    core.config = next;
    this.#cancelIdle?.();
    this.#watchIdle();
    this.input.reconfigured();
    this.tellUpdated();
  }

  /** The client closes. */
  close(): void {
    const reason = this.core.script.close_reason;
    if (reason !== null) this.end(reason);
  }

  /** @throws DuplexError where the script refuses it */
  countAck(): void {
    this.#acks += 1;
    const refusal = this.core.script.refuse_acks;
    if (refusal === undefined || this.#acks < refusal.from) return;
    throw new DuplexError(refusal.code, `playback.ack ${this.#acks} is refused by the script.`);
  }

  /** Speech or the client interrupts. */
  bargeIn(reason: string): void {
    this.assistant.interrupt(reason);
    const { id, epoch } = this.core;
    this.core.emit({
      type: 'turn.event',
      session_id: id,
      event: 'barge_in',
      turn_state: this.#turnState(),
      epoch,
    });
  }

  #apply(event: ClientEvent): void {
    const handler = Object.hasOwn(eventHandlers, event.type) ? eventHandlers[event.type] : undefined;
    if (handler === undefined)
      throw new DuplexError(
        'unknown_event',
        `Unknown event type ${JSON.stringify(event.type.slice(0, 100))}.`,
        'type',
      );
    handler(this, event);
  }

  #attach(wire: EventWire): void {
    this.#cancelGrace?.();
    this.#cancelGrace = null;
    this.#generation += 1;
    this.#lastEventMs = this.core.tasks.nowMs();
    this.core.outbox.attach(wire);
  }

  #turnState(): string {
    if (this.assistant.activeId !== null) return 'speaking';
    return this.input.hasBuffered ? 'listening' : 'idle';
  }

  #object(): Readonly<Record<string, unknown>> {
    const { core } = this;
    return sessionObject(core.config, {
      id: core.id,
      model: core.config.model ?? core.parts.servedModelName,
      turnState: this.#turnState(),
      epoch: core.epoch,
      turnId: core.turnId,
      activeResponseId: this.assistant.activeId,
      playback: core.ledger.latestMarks(),
      capabilities: this.capabilities(),
    });
  }

  capabilities(): Readonly<Record<string, unknown>> {
    const { chunkPeriodMs, modelDecides } = this.core.parts;
    return { ...modelCapabilities(chunkPeriodMs, modelDecides), ...this.core.script.capabilities };
  }

  /** One timer looks again when the lease would end if nothing came: events then cost nothing. */
  #watchIdle(): void {
    const { tasks, config } = this.core;
    const endsMs = this.#lastEventMs + config.idleTimeoutS * 1000;
    const leftMs = endsMs - tasks.nowMs();
    // A session without a socket is under the other lease.
    const attached = this.core.outbox.wire !== null || this.#generation === 0;
    if (leftMs <= 0 && attached) this.expire('idle_ttl_expired');
    else this.#cancelIdle = tasks.later(Math.max(leftMs, 10), () => this.#watchIdle());
  }

  #act(fits: (action: ScriptedAction) => boolean): void {
    if (this.#pendingActions.length === 0) return;
    const due = this.#pendingActions.filter(fits);
    this.#pendingActions = this.#pendingActions.filter((action) => !due.includes(action));
    const { tasks, parts } = this.core;
    for (const action of due) {
      if (action.delay_ms === 0) this.#perform(action);
      else tasks.later(action.delay_ms * parts.timeScale, () => this.#perform(action));
    }
  }

  #perform(action: ScriptedAction): void {
    if (this.#ended) return;
    if (action.event !== undefined) this.core.emit(action.event);
    if (action.error !== undefined) {
      const { code, message } = action.error;
      this.refuse(new DuplexError(code, message ?? `${code}, as the script wants it.`), null);
    }
    if (action.barge_in === true) this.bargeIn('barge_in');
    if (action.clear_output === true) this.assistant.clearOutput();
    if (action.drop_socket === true) this.core.outbox.wire?.terminate();
    if (action.expire !== undefined) this.expire(action.expire);
    if (action.close !== undefined) this.end(action.close);
  }
}
