import {
  EndpointUnavailableError,
  InputFileError,
  OmnimeterError,
  UsageError,
} from '../foundation/errors.ts';

/** As sysexits.h has it for a bug in the program itself; keeps bugs apart from failed runs. */
const internalError = 70;

/** The exit code of a command that ended by throwing. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof InputFileError) return 2;
  if (error instanceof EndpointUnavailableError || error instanceof OmnimeterError) return 1;
  return internalError;
}

/** What the user is told of it: a message for what can be mended, a stack for a bug. */
export function describeError(error: unknown): string {
  if (error instanceof OmnimeterError) return `error: ${error.message}`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `error: this is a bug in omnimeter; please report it with the lines below.\n${stack}`;
}
