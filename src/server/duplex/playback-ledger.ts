import type { PlaybackMarks } from '../../protocol/realtime-events.ts';
import { responseItemId } from '../../protocol/realtime-events.ts';
import { DuplexError, shown } from './duplex-error.ts';

/** Where in the text a piece of sound ends. */
export type TextMark = { readonly text_chars: number; readonly audio_end_ms: number };

type Entry = {
  readonly responseId: string;
  /** Of the user's input when the response began. */
  readonly commitSeq: number;
  readonly marks: TextMark[];
  text: string;
  generatedMs: number;
  playedMs: number;
  committedMs: number;
  /** It has its place in the history. */
  hasSlot: boolean;
};

/** What a client has heard, as it says. */
export type PlaybackAck = {
  readonly responseId: string;
  readonly itemId: string;
  readonly playedMs: number;
  readonly committedMs: number;
  readonly truncate: boolean;
};

/** Responses whose playback is remembered; acks for older ones find nothing. */
const mostEntries = 256;

/** How much of each response was made, sent, heard, and counts as said: only what was heard enters the history. */
export class PlaybackLedger {
  readonly #entries = new Map<string, Entry>();
  #latest: string | null = null;

  open(responseId: string, commitSeq: number): void {
    this.#entries.set(responseId, {
      responseId,
      commitSeq,
      marks: [],
      text: '',
      generatedMs: 0,
      playedMs: 0,
      committedMs: 0,
      hasSlot: false,
    });
    this.#latest = responseId;
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= mostEntries) break;
      this.#entries.delete(oldest);
    }
  }

  /** More of it has been made and sent. */
  said(responseId: string, text: string, audioMs: number): void {
    const entry = this.#entries.get(responseId);
    if (entry === undefined) return;
    entry.text += text;
    entry.generatedMs = audioMs;
    entry.marks.push({ text_chars: entry.text.length, audio_end_ms: audioMs });
  }

  /** Everything that was said counts, heard or not. */
  commitAll(responseId: string): void {
    const entry = this.#entries.get(responseId);
    if (entry === undefined) return;
    entry.hasSlot = true;
    entry.committedMs = Math.max(entry.committedMs, entry.generatedMs);
  }

  marks(responseId: string): PlaybackMarks {
    const entry = this.#entries.get(responseId);
    return {
      generated_ms: entry?.generatedMs ?? 0,
      sent_ms: entry?.generatedMs ?? 0,
      played_ms: entry?.playedMs ?? 0,
      committed_ms: entry?.committedMs ?? 0,
    };
  }

  /** Of the response that began last. */
  latestMarks(): PlaybackMarks {
    return this.marks(this.#latest ?? '');
  }

  /** Whether all that was said counts. */
  isCommitted(responseId: string): boolean {
    const entry = this.#entries.get(responseId);
    return entry?.hasSlot === true && entry.committedMs >= entry.generatedMs;
  }

  /** What of a response counts as said; `null` = it has no place in the history. */
  history(responseId: string): string | null {
    const entry = this.#entries.get(responseId);
    if (entry === undefined || !entry.hasSlot) return null;
    if (entry.committedMs >= entry.generatedMs) return entry.text;
    const chars =
      entry.marks.findLast(({ audio_end_ms }) => audio_end_ms <= entry.committedMs)?.text_chars ?? 0;
    return entry.text.slice(0, chars);
  }

  /** How many responses have their place in the history. */
  get slots(): number {
    let count = 0;
    for (const { hasSlot } of this.#entries.values()) if (hasSlot) count += 1;
    return count;
  }

  /**
   * Reads whom an ack is for and what was heard.
   * @param activeId of the response that is being said; `null` = none
   * @throws DuplexError
   */
  read(event: Readonly<Record<string, unknown>>, activeId: string | null): PlaybackAck {
    const played = event.played_ms ?? event.audio_ms;
    if (typeof played !== 'number' || !Number.isFinite(played) || played < 0)
      throw new DuplexError('bad_event', 'playback.ack requires played_ms', 'played_ms');
    const committed = event.committed_ms ?? played;
    if (typeof committed !== 'number' || !Number.isFinite(committed) || committed < 0)
      throw new DuplexError('bad_event', 'committed_ms must be a number of ms.', 'committed_ms');
    const named = { responseId: textOrNull(event.response_id), itemId: textOrNull(event.item_id) };
    const responseId = named.responseId ?? idOfItem(named.itemId) ?? this.#onlyPending() ?? activeId;
    const itemId = named.itemId ?? (responseId === null ? null : responseItemId(responseId));
    if (responseId === null || itemId === null)
      throw new DuplexError(
        'playback_item_not_found',
        'There is no response whose playback could be acknowledged.',
      );
    if (itemId !== responseItemId(responseId))
      throw new DuplexError(
        'playback_item_mismatch',
        `The item of response ${shown(responseId)} is ${shown(responseItemId(responseId))}, not ${shown(itemId)}.`,
        'item_id',
      );
    return {
      responseId,
      itemId,
      playedMs: Math.floor(played),
      committedMs: Math.floor(committed),
      truncate: event.truncate === true,
    };
  }

  /**
   * Takes an ack.
   * @param commitSeq of the user's input so far
   * @returns whether it changed what counts as said
   * @throws DuplexError
   */
  acknowledge(
    { responseId, itemId, playedMs, committedMs, truncate }: PlaybackAck,
    commitSeq: number,
  ): boolean {
    const entry = this.#entries.get(responseId);
    if (entry === undefined)
      throw new DuplexError(
        'playback_item_not_found',
        `There is no assistant item ${shown(itemId)}.`,
        'item_id',
      );
    if (!entry.hasSlot && entry.commitSeq < commitSeq)
      throw new DuplexError(
        'playback_ack_too_late',
        `The first playback.ack of ${responseId} came too late: a later user input was committed.`,
        'response_id',
      );
    const before = entry.hasSlot ? entry.committedMs : null;
    entry.hasSlot = true;
    entry.playedMs = Math.max(entry.playedMs, Math.min(playedMs, entry.generatedMs));
    const committed = Math.min(committedMs, entry.generatedMs);
    entry.committedMs = truncate ? committed : Math.max(entry.committedMs, committed);
    return entry.committedMs !== before;
  }

  /**
   * Cuts what counts as said.
   * @throws DuplexError where there is no such response
   */
  truncate(responseId: string, audioEndMs: number): void {
    const entry = this.#entries.get(responseId);
    if (entry === undefined)
      throw new DuplexError(
        'item_not_found',
        `There is no assistant item ${responseItemId(responseId)}.`,
        'item_id',
      );
    entry.hasSlot = true;
    entry.committedMs = Math.min(audioEndMs, entry.generatedMs);
  }

  /** The one response that waits for its first ack; `null` = none, or several. */
  #onlyPending(): string | null {
    const pending = [...this.#entries.values()].filter(({ hasSlot }) => !hasSlot);
    return pending.length === 1 ? (pending[0]?.responseId ?? null) : null;
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOfItem(itemId: string | null): string | null {
  return itemId?.startsWith('item_') ? itemId.slice('item_'.length) : null;
}
