import type { FailureKind } from '../../records/request-record.ts';
import { boundedText } from '../bounded-text.ts';

/** Faults of something that did not come, or that something did not come before. */
const kindsOfMissing: ReadonlySet<FailureKind> = new Set(['timeout', 'reset', 'empty', 'malformed']);

/** Ends a session as a failure. Its message is the request's error text. */
export class SessionFault extends Error {
  readonly kind: FailureKind;
  /** What proves it, as text. */
  readonly body: string | null;
  /** The server's code, where it gave one. */
  readonly code: string | null;

  constructor(kind: FailureKind, message: string, body: string | null = null, code: string | null = null) {
    super(boundedText(message));
    this.kind = kind;
    this.body = body === null ? null : boundedText(body);
    this.code = code;
  }

  /** The same fault, which also says what was left out of the session, where it may have waited for just that. */
  besides(losses: readonly string[]): SessionFault {
    if (losses.length === 0 || !kindsOfMissing.has(this.kind)) return this;
    return new SessionFault(this.kind, [this.message, ...losses].join('; '), this.body, this.code);
  }
}
