import type { FailureKind } from '../../records/request-record.ts';

/** Ends a session as a failure. Its message is the request's error text. */
export class SessionFault extends Error {
  readonly kind: FailureKind;
  /** What proves it, as text. */
  readonly body: string | null;

  constructor(kind: FailureKind, message: string, body: string | null = null) {
    super(message);
    this.kind = kind;
    this.body = body;
  }
}
