/** An event for the client, before it is stamped. */
export type DuplexEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** What of an event the truth log tells. */
export type EventNote = {
  readonly responseId?: string;
  /** Tokens of text that are new in it. */
  readonly tokens?: number;
  /** Samples of sound in it. */
  readonly samples?: number;
};

/** An event as it leaves. */
export type StampedEvent = EventNote & {
  readonly type: string;
  /** `null` = there is no session yet. */
  readonly sessionId: string | null;
  /** `null` = one that belongs to the socket and not to the session. */
  readonly seq: number | null;
  readonly text: string;
};

/** Where events leave. */
export type EventWire = {
  send(event: StampedEvent): void;
  /** Says goodbye and closes. */
  close(code: number, reason: string): void;
  /** Breaks the connection off. */
  terminate(): void;
};

/** An event of the socket alone, which has no place in the session's order. */
export function stampless(event: DuplexEvent, id: string): string {
  return JSON.stringify({ ...event, event_id: `event_${id}` });
}
