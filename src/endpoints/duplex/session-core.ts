import type { WebSocketRequest } from '../../transport/transport.ts';
import { asObject, asText, type JsonObject } from '../json-values.ts';
import { audioDeltaTypes, errorText, withoutPayload } from './audio-delta.ts';
import { pythonList } from './completion.ts';
import { PlaybackAcks } from './playback-acks.ts';
import { type ConnectionTools, RealtimeConnection } from './realtime-connection.ts';
import { SessionFault } from './session-fault.ts';
import { SessionLog } from './session-log.ts';

/** How long a server may take to confirm the end of a session that has failed, ms. */
const failedCloseMs = 2000;
/** Most of an event that is kept as proof, characters. */
const proofLength = 16 * 1024;
const toleratedErrors: ReadonlySet<string | null> = new Set([
  'playback_ack_too_late',
  'playback_item_not_found',
]);

export type CoreOptions = {
  readonly tools: ConnectionTools;
  /** What error messages call the session. */
  readonly name: string;
  /** Servers without sessions of their own are spoken to as well: they know no acks and no end of a session. */
  readonly plainServers?: true;
  /** Hears every event of the open session after it was entered into the log; may throw a SessionFault. */
  readonly onEvent: (event: JsonObject, timeMs: number) => void;
};

/** What all realtime sessions have in common: handshake, books, playback acks, errors and the end. */
export class SessionCore {
  readonly log: SessionLog;
  readonly connection: RealtimeConnection;
  readonly startMs: number;
  /** When the session's end was confirmed, or it failed. */
  endMs: number;
  readonly #options: CoreOptions;
  readonly #acks: PlaybackAcks;
  #session: JsonObject | null = null;
  #closing = false;
  /** The session is over on the server, asked for or not. */
  #over = false;
  /** It is over because this client asked for it. */
  #confirmed = false;

  constructor(options: CoreOptions) {
    this.#options = options;
    this.startMs = options.tools.clock.nowMs();
    this.endMs = this.startMs;
    this.log = new SessionLog(options.name);
    this.#acks = new PlaybackAcks(this.log.queue);
    this.connection = new RealtimeConnection(
      options.tools,
      (event, timeMs) => this.#onEvent(event, timeMs),
      this.log.warnings,
    );
  }

  /** The session as the server made it; `null` until then. */
  get session(): JsonObject | null {
    return this.#session;
  }

  get nowMs(): number {
    return this.#options.tools.clock.nowMs();
  }

  /**
   * Holds a session from its handshake to its end.
   * @param hold what is said and awaited in it
   * @throws SessionFault for everything that can go wrong; the session is over in any case
   */
  async run(
    { request, update, handshakeS }: { request: WebSocketRequest; update: string; handshakeS: number },
    hold: () => Promise<void>,
  ): Promise<void> {
    try {
      await this.connection.open(request);
      this.connection.sendStamped(update);
      const deadlineMs = this.nowMs + handshakeS * 1000;
      if (!(await this.connection.until(deadlineMs, () => this.#session !== null)))
        throw new SessionFault('timeout', 'Timed out waiting for session.created');
      await hold();
      this.endMs = this.nowMs;
    } catch (error) {
      this.endMs = this.nowMs;
      const told = error instanceof SessionFault ? error.besides(this.log.warnings.losses) : error;
      await this.#abandon();
      throw told;
    } finally {
      this.connection.close();
    }
  }

  /** Tells the server how far playback is at that time, where that is news. */
  acknowledge(nowMs: number): void {
    if (!this.#knowsSessions) return;
    for (const { responseId, playedMs } of this.#acks.due(nowMs))
      this.connection.send({
        type: 'playback.ack',
        played_ms: playedMs,
        committed_ms: playedMs,
        response_id: responseId,
        item_id: `item_${responseId}`,
      });
  }

  /** What is still in the queue counts as played; nobody waits for it. */
  acknowledgeAll(): void {
    this.acknowledge(Math.max(this.nowMs, this.log.queue.endMs));
  }

  /** @throws SessionFault where the end is not confirmed in time */
  async close(limitS: number): Promise<void> {
    this.#closing = true;
    if (!this.#knowsSessions) return;
    this.connection.send({ type: 'session.close' });
    if (!(await this.connection.until(this.nowMs + limitS * 1000, () => this.#confirmed)))
      throw new SessionFault('timeout', 'Timed out waiting for session.closed');
  }

  /** @throws SessionFault where sound or text has no response, or a response no end */
  requireWhole(): void {
    const stray = this.log.stray();
    if (stray !== null) throw new SessionFault('malformed', stray);
    const unfinished = this.log.ledger.unfinished();
    if (unfinished.length > 0)
      throw new SessionFault('malformed', `unfinished response_ids: ${pythonList(unfinished)}`);
  }

  /** Asks for the session's end also after a failure, so that its place on the server is free for the next. */
  async #abandon(): Promise<void> {
    if (!this.connection.isOpen || this.#over || !this.#knowsSessions) return;
    this.#closing = true;
    this.connection.send({ type: 'session.close' });
    if (this.#options.tools.stop.stopped) return;
    await this.connection.linger(this.nowMs + failedCloseMs, () => this.#over);
  }

  get #knowsSessions(): boolean {
    return this.#options.plainServers !== true || asObject(this.#session?.capabilities) !== null;
  }

  #onEvent(event: JsonObject, timeMs: number): void {
    if (this.#over) return;
    if (event.type === 'session.created' && this.#session === null) {
      this.#session = asObject(event.session) ?? {};
      this.log.journal.append({ type: 'session.created', session: this.#session }, timeMs);
      return;
    }
    const { journal } = this.log;
    const before = journal.count;
    try {
      if (event.type === 'error') this.#onError(event);
      if (event.type === 'session.closed' || event.type === 'session.expired') this.#onClosed(event);
      this.log.take(event, timeMs);
      this.#options.onEvent(event, timeMs);
    } catch (error) {
      // What ended a session is what a reader of its events looks for.
      const isSound = audioDeltaTypes.has(event.type);
      if (journal.count === before) journal.append(isSound ? withoutPayload(event, 0) : event, timeMs);
      throw error;
    }
  }

  #onError(event: JsonObject): void {
    const { code, text } = errorText(event);
    if (this.#session !== null && toleratedErrors.has(code))
      this.log.warnings.add(`tolerated in-flight server rejection: ${code}`);
    // A session that is being closed has nothing left that an error could spoil.
    else if (!this.#closing) throw new SessionFault('stream_error', text, proof(event), code);
  }

  #onClosed(event: JsonObject): void {
    const reason = asText(event.reason) ?? asText(asObject(event.event)?.reason);
    this.connection.endAcknowledging();
    this.#over = true;
    this.#confirmed =
      this.#closing && event.type === 'session.closed' && (reason === null || reason === 'client_close');
    if (this.#confirmed) return;
    const text = this.#closing
      ? `Unexpected ${event.type}: ${reason ?? 'no reason'}`
      : `${event.type}: ${reason ?? 'no reason'}`;
    throw new SessionFault('stream_error', text, proof(event));
  }
}

function proof(event: JsonObject): string {
  return JSON.stringify(event).slice(0, proofLength);
}
