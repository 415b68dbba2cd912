import { OmnimeterError } from '../../foundation/errors.ts';
import { type RealtimeErrorCode, realtimeErrorClass } from '../../protocol/realtime-events.ts';
import type { DuplexEvent } from './duplex-event.ts';

/** An event that is refused: what its sender reads in an `error` event. The session stays. */
export class DuplexError extends OmnimeterError {
  override readonly code = 'DUPLEX';
  readonly realtimeCode: RealtimeErrorCode;
  /** The field at fault; `null` = none, or all of it. */
  readonly param: string | null;

  constructor(realtimeCode: RealtimeErrorCode, message: string, param: string | null = null) {
    super(message);
    this.realtimeCode = realtimeCode;
    this.param = param;
  }
}

const mostShownChars = 200;

/** What a client sent, short enough to be sent back. */
export function shown(text: string): string {
  return text.length <= mostShownChars ? text : `${text.slice(0, mostShownChars)}…`;
}

/**
 * The `error` event of a session.
 * @param eventId of the event that was refused; `null` = it had none
 */
export function errorEvent(
  { realtimeCode, message, param }: DuplexError,
  eventId: string | null,
): DuplexEvent {
  return {
    type: 'error',
    error: {
      type: realtimeErrorClass(realtimeCode),
      code: realtimeCode,
      message,
      ...(eventId === null ? {} : { event_id: shown(eventId) }),
      ...(param === null ? {} : { param }),
    },
  };
}

/** The `error` event of a socket that has no session yet, which is flat. */
export function handshakeErrorEvent({ realtimeCode, message }: DuplexError): DuplexEvent {
  return { type: 'error', error: message, code: realtimeCode };
}
