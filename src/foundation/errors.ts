/**
 * An error that a user can meet. `code` is stable; the message says what, where, what was expected and what to do.
 * Anything else that is thrown is a bug and shows its stack.
 */
export abstract class OmnimeterError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A bad flag, value or combination of them; nothing was sent. Exit code 2. */
export class UsageError extends OmnimeterError {
  override readonly code: string = 'USAGE';
}

/** A file that is missing, unreadable or not in the expected form. Exit code 2 when it was named by a flag. */
export class InputFileError extends OmnimeterError {
  override readonly code: string = 'INPUT_FILE';
}

/** A result that could not be written after the run; the run itself took place. Exit code 1. */
export class OutputFileError extends OmnimeterError {
  override readonly code: string = 'OUTPUT_FILE';
}

/** The endpoint under test could not be used at all, so that no run took place. Exit code 1. */
export class EndpointUnavailableError extends OmnimeterError {
  override readonly code: string = 'ENDPOINT_UNAVAILABLE';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
