import { type EventKind, EventLogBuilder, eventKinds } from '../../records/event-log.ts';
import type { ResponseFacts } from '../../records/request-record.ts';
import { asObject, asText, believableFields, type JsonObject } from '../json-values.ts';
import {
  AudioDeltaReader,
  audioDeltaTypes,
  payloadBytes,
  textDeltaTypes,
  withoutPayload,
} from './audio-delta.ts';
import { EventJournal } from './event-journal.ts';
import { PlaybackQueue } from './playback-queue.ts';
import { ResponseLedger, responseIdOf } from './response-ledger.ts';
import { ResponseTimings } from './response-timings.ts';
import { SessionNotes, shownText } from './session-notes.ts';

/** How a response may be done; only `failed` is a failure. */
const responseStatuses: ReadonlySet<unknown> = new Set(['completed', 'cancelled', 'failed', 'incomplete']);
const nonsenseNote = "the server's figures that it cannot mean count as not sent";
/** Most a column of response indices holds. */
const mostResponses = 0xffff;

/**
 * Everything that is kept of a session's events: the books of responses, the playback, texts, times, the event log and
 * the journal. It judges only what an event says of itself.
 */
export class SessionLog {
  readonly ledger = new ResponseLedger();
  readonly queue = new PlaybackQueue();
  readonly events = new EventLogBuilder();
  readonly journal = new EventJournal();
  readonly texts = new Map<string, string>();
  readonly warnings = new SessionNotes();
  /** Off = events are kept and not timed: nothing counts that came before the input began. */
  timing = true;
  readonly #timings = new Map<string, ResponseTimings>();
  readonly #statuses = new Map<string, string>();
  readonly #usages = new Map<string, JsonObject>();
  readonly #audio: AudioDeltaReader;
  /** Responses with sound, and with text, that were heard before they were created, if ever. */
  readonly #audioIds = new Set<string>();
  #strayText = false;

  /** @param session what error messages call the session */
  constructor(session: string) {
    this.#audio = new AudioDeltaReader(session, (warning) => this.warnings.add(warning));
  }

  /** @throws SessionFault when the event can't be right */
  take(event: JsonObject, timeMs: number): void {
    this.ledger.enter(event);
    // The one that opened the session does not come here.
    if (event.type === 'session.created')
      this.warnings.add(
        'session.created came again, the first one counts',
        shownText(asObject(event.session)?.id ?? null),
      );
    const id = responseIdOf(event);
    if (audioDeltaTypes.has(event.type)) this.#takeAudio(event, timeMs, id);
    else {
      this.journal.append(event, timeMs);
      if (textDeltaTypes.has(event.type)) this.#takeText(event, timeMs, id);
      else this.#note(timeMs, eventKinds.other, 0, id);
    }
    if (id === null) return;
    if (event.type === 'response.done') this.#takeDone(event, id);
    if (event.type === 'output_audio_buffer.cleared') this.queue.clear(id, timeMs);
    if (!this.timing) return;
    if (event.type === 'response.created') this.timingsOf(id).createdMs = timeMs;
    this.timingsOf(id).onCarrier(event);
  }

  /** Of responses in order of creation. */
  createdTimings(): { id: string; timings: ResponseTimings }[] {
    return this.ledger.created.map((id) => ({ id, timings: this.timingsOf(id) }));
  }

  timingsOf(id: string): ResponseTimings {
    let timings = this.#timings.get(id);
    if (timings === undefined) {
      timings = new ResponseTimings((name, value) =>
        this.warnings.add(nonsenseNote, `${name} ${shownText(value)}`),
      );
      this.#timings.set(id, timings);
    }
    return timings;
  }

  /** What of the session has no response, or no end; `null` = nothing. */
  stray(): string | null {
    const isCreated = (id: string): boolean => this.ledger.indexOf(id) !== null;
    if (![...this.#audioIds].every(isCreated)) return 'response audio has no matching response.created';
    if (this.#strayText || ![...this.texts.keys()].every(isCreated))
      return 'response transcript has no matching response.created';
    return null;
  }

  /** As the record holds them. */
  responses(): ResponseFacts[] {
    return this.createdTimings().map(({ id, timings }) => ({
      id,
      finishReason: this.#statuses.get(id) ?? null,
      usage: this.#usages.get(id) ?? null,
      stages: timings.stages,
      stageDurations: {},
      peakMemoryMb: null,
    }));
  }

  #takeAudio(event: JsonObject, timeMs: number, id: string | null): void {
    const bytes = payloadBytes(event);
    if (this.timing && id !== null && bytes > 0) this.timingsOf(id).onAudio(timeMs, bytes, event);
    const { responseId, pcm } = this.#audio.read(event);
    this.#audioIds.add(responseId);
    this.#noteLate(event, responseId);
    const taken = this.queue.push(responseId, pcm, timeMs);
    this.journal.append(withoutPayload(event, taken), timeMs);
    this.#note(timeMs, eventKinds.audio, pcm.length, id, pcm.length / 2);
  }

  #takeText(event: JsonObject, timeMs: number, id: string | null): void {
    const delta = asText(event.delta) ?? '';
    this.#note(timeMs, delta === '' ? eventKinds.empty : eventKinds.text, Buffer.byteLength(delta), id);
    if (delta === '') return;
    this.#noteLate(event, id);
    if (id === null) this.#strayText = true;
    else {
      if (this.timing) this.timingsOf(id).onText(timeMs);
      this.texts.set(id, (this.texts.get(id) ?? '') + delta);
    }
  }

  /** Kept, as the reference keeps it: a cancelled response may have some on its way. */
  #noteLate(event: JsonObject, id: string | null): void {
    if (id !== null && this.ledger.isDone(id))
      this.warnings.add(
        `${event.type} after response.done of its response, counted as part of it`,
        shownText(id),
      );
  }

  #takeDone(event: JsonObject, id: string): void {
    this.queue.complete(id);
    const response = asObject(event.response);
    const given = response?.status ?? event.status;
    const status = asText(given);
    if (status !== null) this.#statuses.set(id, status);
    if (status === 'incomplete')
      this.warnings.add('response.done with status incomplete, its response was cut off', shownText(id));
    if (!responseStatuses.has(given) && !this.ledger.isCancelled(id))
      this.warnings.add(
        'response.done without a known status, taken as completed',
        `${shownText(given ?? null)} of ${shownText(id)}`,
      );
    const usage = asObject(response?.usage);
    if (usage !== null) this.#usages.set(id, believableFields(usage));
  }

  #note(
    timeMs: number,
    kind: EventKind,
    bytes: number,
    id: string | null,
    frames: number | null = null,
  ): void {
    const response = Math.min(this.ledger.indexOf(id) ?? 0, mostResponses);
    this.events.append(timeMs, kind, null, bytes, frames, response);
  }
}
