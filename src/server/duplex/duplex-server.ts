import { randomUUID, timingSafeEqual } from 'node:crypto';
import { randomStream } from '../../foundation/random.ts';
import { DuplexError, shown } from './duplex-error.ts';
import type { EventWire } from './duplex-event.ts';
import { type DuplexScript, ScriptDealer, type SessionScript } from './duplex-script.ts';
import { DuplexSession } from './duplex-session.ts';
import type { JournalLimits } from './event-journal.ts';
import { EventOutbox } from './event-outbox.ts';
import type { SessionConfig } from './session-config.ts';
import { type DuplexParts, SessionCore, type SessionFaults } from './session-core.ts';

/** How many sessions there may be, and how long one that is not used is kept. */
export type DuplexLimits = {
  readonly maxSessions: number;
  /** Of a session that does not say; s. */
  readonly idleTtlS: number;
  /** How long a session without a socket keeps its place, s. */
  readonly disconnectGraceS: number;
  /** How long a socket may stay without a session, s. */
  readonly configTimeoutS: number;
  readonly journal: JournalLimits;
};

/** What a server has of conversations at a moment. */
export type DuplexLoad = {
  /** Sessions with a socket. */
  readonly attached: number;
  /** Sessions that wait for their client to come back. */
  readonly detached: number;
  /** Responses that are being said. */
  readonly responses: number;
  /** Chats, which take a place each. */
  readonly chats: number;
  /** Places in all. */
  readonly maxSessions: number;
};

/** The stock profile. */
export const duplexLimits: DuplexLimits = {
  maxSessions: 4,
  idleTtlS: 300,
  disconnectGraceS: 30,
  configTimeoutS: 30,
  journal: { events: 4096, chars: 16 * 1024 * 1024 },
};

/** Sessions that ended are remembered by id, so that who comes back late is told that. */
const mostRemembered = 1024;

/** All duplex sessions of a server: who gets in, and who comes back. */
export class DuplexServer {
  readonly parts: DuplexParts;
  readonly limits: DuplexLimits;
  readonly #seed: number;
  readonly #scripts: ScriptDealer;
  readonly #sessions = new Map<string, DuplexSession>();
  readonly #endedIds = new Set<string>();
  #opened = 0;
  #chats = 0;

  constructor(given: {
    readonly parts: DuplexParts;
    readonly limits: DuplexLimits;
    readonly script: DuplexScript;
    readonly seed: number;
  }) {
    this.parts = given.parts;
    this.limits = given.limits;
    this.#seed = given.seed;
    this.#scripts = new ScriptDealer(given.script);
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  load(): DuplexLoad {
    const sessions = [...this.#sessions.values()];
    const attached = sessions.filter((session) => session.attached).length;
    return {
      attached,
      detached: sessions.length - attached,
      responses: sessions.filter(({ assistant }) => assistant.activeId !== null).length,
      chats: this.#chats,
      maxSessions: this.limits.maxSessions,
    };
  }

  /** @throws DuplexError where all places are taken */
  checkCapacity(): void {
    const { maxSessions } = this.limits;
    if (this.#sessions.size + this.#chats >= maxSessions) throw capacityExhausted(maxSessions);
  }

  /**
   * A chat takes a place of a conversation, as its model has seats for so many in all.
   * @returns gives the place back; harmless when repeated
   * @throws DuplexError where all places are taken
   */
  admitChat(): () => void {
    try {
      this.checkCapacity();
    } catch (error) {
      if (error instanceof DuplexError) this.parts.observer.refused('chat', error.realtimeCode);
      throw error;
    }
    this.#chats += 1;
    let taken = true;
    return () => {
      if (taken) this.#chats -= 1;
      taken = false;
    };
  }

  /**
   * The script of a session that is about to open.
   * @throws DuplexError where it asks for one that there is not, or the script refuses it
   */
  nextScript({ scriptName }: SessionConfig): SessionScript {
    const script = this.#scripts.next(scriptName);
    if (script === null)
      throw new DuplexError(
        'invalid_duplex_runtime_config',
        `extra_body.duplex_script: the server has no script ${JSON.stringify(shown(scriptName ?? ''))}.`,
        'duplex_script',
      );
    const { refuse } = script;
    if (refuse === undefined) return script;
    if (refuse.code === 'resource_exhausted' && refuse.message === undefined)
      throw capacityExhausted(this.limits.maxSessions);
    throw new DuplexError(refuse.code, refuse.message ?? `${refuse.code}, as the script wants it.`);
  }

  /** Opens a session, for which there must be a place. */
  open(
    wire: EventWire,
    given: {
      readonly config: SessionConfig;
      readonly script: SessionScript;
      readonly configured: boolean;
      readonly faults: SessionFaults;
      /** Of what the socket has been sent. */
      readonly lastSeq: number;
    },
  ): DuplexSession {
    const ordinal = this.#opened;
    this.#opened += 1;
    const id = `duplex-${randomUUID()}`;
    const core = new SessionCore({
      id,
      parts: this.parts,
      script: given.script,
      random: randomStream(this.#seed, `duplex session ${ordinal}`),
      faults: given.faults,
      outbox: new EventOutbox(id, given.lastSeq, this.limits.journal, this.parts.newId),
      config: given.config,
    });
    const session = new DuplexSession(core, {
      configured: given.configured,
      graceMs: this.limits.disconnectGraceS * 1000,
      onEnded: ({ id }) => this.#forget(id),
    });
    this.#sessions.set(session.id, session);
    this.parts.observer.sessionOpened();
    session.open(wire);
    return session;
  }

  /**
   * The session that a client comes back to.
   * @throws DuplexError
   */
  resume(wire: EventWire, event: Readonly<Record<string, unknown>>): DuplexSession {
    const { session_id: id, resume_token: token, last_received_server_event_seq: lastSeq = 0 } = event;
    if (typeof id !== 'string' || typeof token !== 'string')
      throw new DuplexError(
        'invalid_session_resume',
        'session.resume needs "session_id" and "resume_token".',
      );
    if (typeof lastSeq !== 'number' || !Number.isInteger(lastSeq) || lastSeq < 0)
      throw new DuplexError(
        'invalid_session_resume',
        'last_received_server_event_seq must be a whole number ≥ 0.',
        'last_received_server_event_seq',
      );
    const session = this.#sessions.get(id);
    if (session === undefined) {
      if (this.#endedIds.has(id))
        throw new DuplexError('session_resume_expired', 'The session has ended; open another.', 'session_id');
      throw new DuplexError('unknown_session', 'There is no such session.', 'session_id');
    }
    if (session.capabilities().supports_session_resume !== true)
      throw new DuplexError(
        'unsupported_session_resume',
        'This session cannot be resumed (see its capabilities).',
      );
    if (!sameText(token, session.resumeToken))
      throw new DuplexError(
        'invalid_resume_token',
        'The resume token is not that of the session, or was used.',
      );
    const { attachment_generation: generation } = event;
    if (generation !== undefined && generation !== session.generation)
      throw new DuplexError(
        'session_resume_conflict',
        `Another socket has resumed the session: its generation is ${session.generation}.`,
        'attachment_generation',
      );
    session.resume(wire, lastSeq);
    this.parts.observer.sessionResumed();
    return session;
  }

  /** Ends all sessions. */
  close(): void {
    for (const session of [...this.#sessions.values()]) session.end('shutdown');
  }

  #forget(id: string): void {
    this.#sessions.delete(id);
    this.#endedIds.add(id);
    for (const oldest of this.#endedIds) {
      if (this.#endedIds.size <= mostRemembered) break;
      this.#endedIds.delete(oldest);
    }
  }
}

function capacityExhausted(limit: number): DuplexError {
  return new DuplexError('resource_exhausted', `duplex_session_capacity_exhausted: limit=${limit}`);
}

/** Takes equally long wherever they differ. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
