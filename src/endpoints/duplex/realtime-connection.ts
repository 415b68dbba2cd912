import { randomUUID } from 'node:crypto';
import { messageOf } from '../../foundation/errors.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import type {
  ExchangeTimes,
  WebSocketCall,
  WebSocketEnd,
  WebSocketHandler,
  WebSocketRequest,
} from '../../transport/transport.ts';
import type { StopSignal } from '../endpoint.ts';
import { asObject, asText, type JsonObject } from '../json-values.ts';
import type { SessionClock } from './session-clock.ts';
import { SessionFault } from './session-fault.ts';
import { type SessionNotes, shownText } from './session-notes.ts';

/** Largest message in either direction, bytes. */
export const maxMessageBytes = 64 * 1024 * 1024;
/** Far beyond any session, and what keeps an endless one from filling the client. */
const mostEvents = 1_000_000;
const mostTextBytes = 512 * 1024 * 1024;
/** Input that waits for the network, bytes, from which on the sender waits too, as a blocking one would. */
const mostBufferedBytes = 1024 * 1024;
const drainPollMs = 5;

/** What a session needs of the world. */
export type ConnectionTools = {
  readonly clock: SessionClock;
  readonly stop: StopSignal;
  readonly openWebSocket: (request: WebSocketRequest, handler: WebSocketHandler) => WebSocketCall;
  /** Limit of the whole session, ms; 0 = none. */
  readonly timeoutMs: number;
};

/** A fresh id in the form of the API. */
export function eventId(): string {
  return `evt_${randomUUID().replaceAll('-', '')}`;
}

/**
 * One realtime connection as its session sees it: events in order, each once and acknowledged, and waits that end with
 * what was waited for, with their time, or with the first thing that went wrong.
 */
export class RealtimeConnection {
  readonly #tools: ConnectionTools;
  readonly #onEvent: (event: JsonObject, timeMs: number) => void;
  readonly #notes: SessionNotes;
  readonly #cleanups: (() => void)[] = [];
  #call: WebSocketCall | null = null;
  #open = false;
  #fault: SessionFault | null = null;
  #gone = false;
  #wake: (() => void) | null = null;
  #wakeOnEvents = false;
  #lastSeq = Number.NEGATIVE_INFINITY;
  #events = 0;
  #textBytes = 0;
  #ended = false;

  /**
   * @param onEvent may throw a SessionFault, which ends the session
   * @param notes get what was left out: messages that are no events, and events that came before
   */
  constructor(
    tools: ConnectionTools,
    onEvent: (event: JsonObject, timeMs: number) => void,
    notes: SessionNotes,
  ) {
    this.#tools = tools;
    this.#onEvent = onEvent;
    this.#notes = notes;
  }

  /** `null` where nothing was opened. */
  get times(): ExchangeTimes | null {
    return this.#call?.times() ?? null;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Opens the WebSocket.
   * @throws SessionFault
   */
  async open(request: WebSocketRequest): Promise<void> {
    const { clock, stop, timeoutMs, openWebSocket } = this.#tools;
    const cancelled = (): void => this.fail(new SessionFault('aborted', cancelledText));
    if (stop.stopped) throw new SessionFault('aborted', cancelledText);
    this.#cleanups.push(stop.onStop(cancelled));
    if (timeoutMs > 0) {
      const expired = new SessionFault('timeout', `the session took longer than ${timeoutMs / 1000} s`);
      this.#cleanups.push(clock.at(clock.nowMs() + timeoutMs, () => this.fail(expired)));
    }
    this.#call = openWebSocket(request, {
      onOpen: () => {
        this.#open = true;
        this.#wakeUp();
      },
      onText: (text, timeMs) => this.#receive(() => this.#take(text, timeMs)),
      onBinary: (bytes) =>
        this.#receive(() => {
          this.#countMessage(bytes);
          this.#notes.lose('ignored binary messages, which are no events', `${bytes} bytes`);
        }),
      onEnd: (end) => this.#closed(end),
    });
    await this.until(Number.POSITIVE_INFINITY, () => this.#open);
  }

  /** Sends an event, stamped with an id of its own. */
  send(event: JsonObject): void {
    this.#call?.send(JSON.stringify({ ...event, event_id: eventId() }));
  }

  /** Sends an event that is JSON already and has no id. */
  sendStamped(json: string): void {
    this.#call?.send(`${json.slice(0, -1)},"event_id":"${eventId()}"}`);
  }

  /** From here on events are read and not acknowledged: the session is over. */
  endAcknowledging(): void {
    this.#ended = true;
  }

  /** The first fault counts. */
  fail(fault: SessionFault): void {
    this.#fault ??= fault;
    this.#wakeUp();
  }

  /**
   * Waits for the time, or for `isDone`, which is asked after each event.
   * @returns whether it was done
   * @throws SessionFault what went wrong meanwhile
   */
  async until(deadlineMs: number, isDone?: () => boolean): Promise<boolean> {
    const { clock } = this.#tools;
    this.#wakeOnEvents = isDone !== undefined;
    for (;;) {
      if (isDone?.()) return true;
      if (this.#fault !== null) throw this.#fault;
      if (clock.nowMs() >= deadlineMs) return false;
      await new Promise<void>((resolve) => {
        const cancel = Number.isFinite(deadlineMs) ? clock.at(deadlineMs, resolve) : (): void => {};
        this.#wake = (): void => {
          cancel();
          resolve();
        };
      });
      this.#wake = null;
    }
  }

  /**
   * Waits while the network does not take what was sent.
   * @returns false where the time ran out first
   */
  async drained(deadlineMs: number): Promise<boolean> {
    const { clock } = this.#tools;
    while ((this.#call?.bufferedBytes ?? 0) > mostBufferedBytes) {
      if (clock.nowMs() >= deadlineMs) return false;
      await this.until(Math.min(deadlineMs, clock.nowMs() + drainPollMs));
    }
    return true;
  }

  /** Waits for an event after a fault, which no longer counts. */
  async linger(deadlineMs: number, isDone: () => boolean): Promise<void> {
    const fault = this.#fault;
    this.#fault = null;
    try {
      await this.until(deadlineMs, () => isDone() || this.#gone);
    } catch {
      // Whatever goes wrong after a failure does not change it.
    }
    this.#fault = fault;
  }

  /** Lets go of everything; the server's end is told by the protocol. */
  close(): void {
    for (const clean of this.#cleanups.splice(0)) clean();
    this.#ended = true;
    this.#call?.close();
  }

  #receive(take: () => void): void {
    if (this.#fault !== null) return;
    try {
      take();
    } catch (error) {
      this.fail(
        error instanceof SessionFault
          ? error
          : new SessionFault('malformed', `an event could not be read: ${messageOf(error)}`),
      );
    }
    if (this.#wakeOnEvents) this.#wakeUp();
  }

  #countMessage(length: number): void {
    this.#events += 1;
    this.#textBytes += length;
    if (this.#events > mostEvents)
      throw new SessionFault('limit', `the session has more than ${mostEvents} events`);
    if (this.#textBytes > mostTextBytes)
      throw new SessionFault('limit', `the session's events are longer than ${mostTextBytes} bytes`);
  }

  #take(text: string, timeMs: number): void {
    this.#countMessage(text.length);
    const event = parsedObject(text);
    if (event === null) {
      this.#notes.lose('ignored messages that are no JSON objects', shownText(text));
      return;
    }
    const seq = this.#seqOf(event);
    if (seq !== null && seq <= this.#lastSeq) {
      const type = shownText(asText(event.type) ?? '');
      this.#notes.lose(
        'dropped events as repetitions, their server_event_seq is not above the last',
        `${type} with ${seq} after ${this.#lastSeq}`,
      );
      return;
    }
    if (seq !== null) this.#lastSeq = seq;
    this.#onEvent(event, timeMs);
    if (seq !== null && !this.#ended)
      this.#call?.send(`{"type":"session.event_ack","server_event_seq":${seq}}`);
  }

  /** An event's number; `null` where it has none, as plain servers send them. */
  #seqOf({ server_event_seq: seq }: JsonObject): number | null {
    if (typeof seq === 'number' && Number.isSafeInteger(seq)) return seq;
    if (seq !== undefined && seq !== null)
      this.#notes.add(
        'events whose server_event_seq is no whole number are not acknowledged',
        shownText(seq),
      );
    return null;
  }

  #closed(end: WebSocketEnd): void {
    const kind = end.kind === 'closed' ? 'reset' : end.kind;
    const text = endText(end, this.#open);
    this.#open = false;
    this.#gone = true;
    this.fail(new SessionFault(kind, text, end.kind === 'http' ? end.body : null));
  }

  #wakeUp(): void {
    this.#wake?.();
  }
}

const cancelledText = 'Realtime event consumer was cancelled';

function endText(end: WebSocketEnd, wasOpen: boolean): string {
  if (end.kind === 'closed') {
    const reason = end.reason === '' ? '' : ` ${end.reason}`;
    return `Realtime session closed before the requested event arrived (close code ${end.code}${reason})`;
  }
  if (end.kind === 'aborted') return `${cancelledText}: ${end.message}`;
  return wasOpen ? `Realtime session failed: ${end.message}` : end.message;
}

/** Servers in Python write NaN and Infinity where they have no figure, and clients in Python read them. */
function parsedObject(text: string): JsonObject | null {
  try {
    return asObject(parseTolerantJson(text));
  } catch {
    return null;
  }
}
