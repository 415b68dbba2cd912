import type { FailureKind } from '../../records/request-record.ts';

/** Ends a session as a failure. Its message is the request's error text. */
export class SessionFault extends Error {
  readonly kind: FailureKind;
  /** What proves it, as text. */
  readonly body: string | null;
  /** The server's code, where it gave one. */
  readonly code: string | null;

  constructor(kind: FailureKind, message: string, body: string | null = null, code: string | null = null) {
    super(message);
    this.kind = kind;
    this.body = body;
    this.code = code;
  }
}
