import { messageOf } from '../../foundation/errors.ts';
import type { ScheduledTask } from '../engine/task-heap.ts';
import { DuplexError, errorEvent, handshakeErrorEvent } from './duplex-error.ts';
import type { EventWire } from './duplex-event.ts';
import type { DuplexServer } from './duplex-server.ts';
import type { DuplexSession } from './duplex-session.ts';
import {
  defaultSessionConfig,
  readSessionConfig,
  requireRefAudio,
  type SessionConfig,
} from './session-config.ts';
import type { SessionFaults } from './session-core.ts';
import type { ClientEvent } from './session-events.ts';
import { TaskSet } from './task-set.ts';

/** Largest event, bytes: a minute of reference audio, or a unit of input with all its pictures. */
export const mostEventBytes = 16 * 1024 * 1024;
/** Most that waits to be applied. */
const mostWaitingEvents = 1024;
const mostWaitingBytes = 32 * 1024 * 1024;
/** Events applied in one go: between two of them other sockets are served. */
const eventsPerTurn = 16;

/** How a socket is used. */
export type ConnectionSettings = {
  /** Open a session before the client says anything. */
  readonly autostart: boolean;
  /** As the address names it; `null` = it does not. */
  readonly model: string | null;
  readonly faults: SessionFaults;
  /** What happens instead of a session on purpose; `null` = nothing. */
  readonly refusal: DuplexError | null;
  /** Before the first event is answered, ms. */
  readonly delayMs: number;
  /** @throws an error that says so where the server has no such model */
  checkModel(model: string | null): void;
};

/**
 * One socket of a duplex session: a mailbox whose events are applied one after another, a few at a time, and the
 * handshake before there is a session.
 */
export class DuplexConnection {
  readonly #server: DuplexServer;
  readonly #wire: EventWire;
  readonly #settings: ConnectionSettings;
  readonly #tasks: TaskSet;
  readonly #drain: ScheduledTask;
  #mailbox: Buffer[] = [];
  #mailboxBytes = 0;
  #draining = false;
  #dropped = 0;
  #session: DuplexSession | null = null;
  /** Events that this socket sent before it had a session. */
  #lastSeq = 0;
  #closed = false;
  /** The script wants no answer. */
  #mute = false;

  constructor(server: DuplexServer, wire: EventWire, settings: ConnectionSettings) {
    this.#server = server;
    this.#wire = wire;
    this.#settings = settings;
    this.#tasks = new TaskSet(server.parts.scheduler);
    this.#drain = { dueMs: 0, heapSlot: -1, run: () => this.#applySome() };
    this.#tasks.later(server.limits.configTimeoutS * 1000, () => this.#configTimeout());
    if (settings.autostart) this.#guarded(() => this.#entering(() => this.#autostart()));
  }

  /** The session that it has; `null` = none yet. */
  get session(): DuplexSession | null {
    return this.#session;
  }

  /** A text frame has come. */
  receive(frame: Buffer): void {
    if (this.#closed) return;
    if (frame.length > mostEventBytes) {
      this.#refuse(
        new DuplexError(
          'event_too_large',
          `An event may have ${mostEventBytes} bytes; this one has ${frame.length}.`,
        ),
        null,
      );
      return;
    }
    if (this.#mailbox.length >= mostWaitingEvents || this.#mailboxBytes + frame.length > mostWaitingBytes) {
      this.#overflow();
      return;
    }
    this.#mailbox.push(frame);
    this.#mailboxBytes += frame.length;
    if (this.#draining) return;
    this.#draining = true;
    this.#schedule(this.#settings.delayMs > 0 && this.#session === null ? this.#settings.delayMs : 0);
  }

  /** A frame that is no text. */
  receiveBinary(): void {
    this.#refuse(
      new DuplexError('bad_event', 'Binary frames are not taken: an event is a text frame of JSON.'),
      null,
    );
  }

  /** The socket is gone. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#tasks.clear();
    this.#server.parts.scheduler.remove(this.#drain);
    this.#mailbox = [];
    this.#session?.detach(this.#wire);
  }

  #schedule(delayMs: number): void {
    this.#drain.dueMs = this.#server.parts.scheduler.nowMs() + delayMs;
    this.#server.parts.scheduler.add(this.#drain);
  }

  /** Says so once, and when there is room again how much was lost. */
  #overflow(): void {
    this.#dropped += 1;
    this.#server.parts.observer.eventsDropped(1);
    if (this.#dropped > 1) return;
    this.#refuse(
      new DuplexError(
        'input_backpressure',
        `Events come faster than they can be applied: ${mostWaitingEvents} wait, and more are dropped.`,
      ),
      null,
    );
  }

  #applySome(): void {
    const events = this.#mailbox.splice(0, eventsPerTurn);
    for (const frame of events) {
      this.#mailboxBytes -= frame.length;
      if (!this.#closed) this.#applyFrame(frame);
    }
    if (this.#dropped > 1 && this.#mailbox.length < mostWaitingEvents / 2)
      this.#refuse(
        new DuplexError('input_backpressure', `${this.#dropped} events were dropped; there is room again.`),
        null,
      );
    if (this.#mailbox.length < mostWaitingEvents / 2) this.#dropped = 0;
    if (this.#mailbox.length > 0 && !this.#closed) this.#schedule(0);
    else this.#draining = false;
  }

  #applyFrame(frame: Buffer): void {
    const session = this.#session;
    this.#guarded(() => {
      const event = parseEvent(frame);
      if (session === null) this.#handshake(event);
      else if (session.ended || !session.isOn(this.#wire))
        throw new DuplexError('session_closed', 'The session is closed, or another socket has it.');
      else session.handle(event);
    });
  }

  #guarded(what: () => void): void {
    try {
      what();
    } catch (error) {
      if (error instanceof DuplexError) this.#refuse(error, null);
      else {
        console.error(error);
        this.#refuse(
          new DuplexError('internal_error', 'Internal error of the server; its log says more.'),
          null,
        );
      }
    }
  }

  /** Nested within a session, flat before there is one. */
  #refuse(error: DuplexError, eventId: string | null): void {
    if (this.#closed) return;
    const session = this.#session;
    if (session !== null && !session.ended && session.isOn(this.#wire)) {
      session.core.emit(errorEvent(error, eventId));
      return;
    }
    this.#lastSeq += 1;
    const stamp = { event_id: `event_${this.#server.parts.newId()}`, server_event_seq: this.#lastSeq };
    const text = JSON.stringify({ ...handshakeErrorEvent(error), ...stamp });
    this.#wire.send({ type: 'error', sessionId: null, seq: this.#lastSeq, text });
  }

  /** Who is not let in is counted. */
  #entering(what: () => void): void {
    try {
      what();
    } catch (error) {
      const code = error instanceof DuplexError ? error.realtimeCode : 'internal_error';
      this.#server.parts.observer.refused('session', code);
      throw error;
    }
  }

  #handshake(event: ClientEvent): void {
    if (this.#mute) return;
    if (event.type === 'session.resume') {
      this.#resume(event);
      return;
    }
    if (event.type === 'session.close' || event.type === 'close' || event.type === 'close_session') {
      this.#wire.close(1000, 'closed by the client');
      return;
    }
    if (event.type !== 'session.update')
      throw new DuplexError(
        'unknown_session',
        `${event.type.slice(0, 100)}: there is no session yet; send session.update or session.resume first.`,
      );
    this.#entering(() => this.#configure(event));
  }

  #configure(event: ClientEvent): void {
    const { refusal } = this.#settings;
    if (refusal !== null) throw refusal;
    const { modelDecides } = this.#server.parts;
    const config = readSessionConfig(
      event.session,
      { ...this.#defaultConfig(), modalities: ['audio', 'text'] },
      modelDecides,
    );
    this.#settings.checkModel(config.model ?? this.#settings.model);
    if (modelDecides) requireRefAudio(config);
    this.#open(config, true);
  }

  #autostart(): void {
    const { refusal, model } = this.#settings;
    if (refusal !== null) throw refusal;
    this.#settings.checkModel(model);
    this.#open({ ...this.#defaultConfig(), model }, false);
  }

  #defaultConfig(): SessionConfig {
    const { limits, parts } = this.#server;
    return defaultSessionConfig(limits.idleTtlS, parts.modelDecides);
  }

  #open(config: SessionConfig, configured: boolean): void {
    this.#server.checkCapacity();
    const script = this.#server.nextScript(config);
    if (script.silent) {
      this.#mute = true;
      return;
    }
    this.#tasks.clear();
    const { faults } = this.#settings;
    const opened = this.#server.open(this.#wire, {
      config,
      script,
      configured,
      faults,
      lastSeq: this.#lastSeq,
    });
    this.#session = opened;
  }

  #resume(event: ClientEvent): void {
    try {
      this.#entering(() => {
        this.#session = this.#server.resume(this.#wire, event);
      });
      this.#tasks.clear();
    } catch (error) {
      this.#guarded(() => {
        throw error;
      });
      // Whoever can't have the session has no use for the socket.
      this.#wire.close(1008, error instanceof DuplexError ? error.realtimeCode : 'internal_error');
    }
  }

  #configTimeout(): void {
    if (this.#mute) return;
    this.#refuse(
      new DuplexError(
        'config_timeout',
        `No session.update came within ${this.#server.limits.configTimeoutS} s.`,
      ),
      null,
    );
    this.#wire.close(1008, 'config_timeout');
  }
}

/** @throws DuplexError for what is no event */
function parseEvent(frame: Buffer): ClientEvent {
  let event: unknown;
  try {
    event = JSON.parse(frame.toString('utf8'));
  } catch (error) {
    throw new DuplexError('invalid_json', `An event must be JSON: ${messageOf(error).slice(0, 200)}.`);
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw new DuplexError('invalid_json', 'An event must be a JSON object.');
  if (!('type' in event) || typeof event.type !== 'string')
    throw new DuplexError('bad_event', 'An event needs "type": a text.', 'type');
  return { ...event, type: event.type };
}
