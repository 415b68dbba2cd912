import { z } from 'zod';

const facts = z.looseObject({ message: z.string(), code: z.unknown() });
const envelope = z.looseObject({ error: z.union([z.string(), facts]) });

/** What an error body says; servers send it in an envelope, bare, or as plain text. */
function readBody(body: string): { message: string; code: unknown } {
  try {
    const value: unknown = JSON.parse(body);
    const wrapped = envelope.safeParse(value);
    const inner = wrapped.success ? wrapped.data.error : value;
    if (typeof inner === 'string') return { message: inner, code: null };
    const bare = facts.safeParse(inner);
    if (bare.success) return { message: bare.data.message, code: bare.data.code };
  } catch {
    // Plain text, from a server in between.
  }
  return { message: body.trim().slice(0, 500), code: null };
}

/** What a remote server did, or failed to do, for one request. */
export class ProxyError extends Error {
  /** HTTP status that the request comes to. */
  readonly status: number;
  /** What the server's owner should know and its clients should not, such as an address; `null` = nothing. */
  readonly detail: string | null;

  constructor(status: number, message: string, detail: string | null = null) {
    super(message);
    this.status = status;
    this.detail = detail;
  }

  /**
   * From a refusal, or an error in the middle of a stream.
   * @param status of the answer; `null` = as the error itself says, else 502
   */
  static fromBody(body: string, status: number | null): ProxyError {
    const { message, code } = readBody(body);
    const own = Number(code);
    const said = status ?? (Number.isInteger(own) && own >= 400 && own <= 599 ? own : 502);
    const shown = `The remote server answered ${said}${message === '' ? '.' : `: ${message}`}`;
    // These speak of the deployment (its key, its address, its model's name), not of the client's request.
    return new ProxyError([401, 403, 404].includes(said) || said < 400 ? 502 : said, shown);
  }

  /** From whatever a connection or a reader threw. */
  static from(error: unknown): ProxyError {
    if (error instanceof ProxyError) return error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/TIMEOUT|ETIMEDOUT/.test(code))
      return new ProxyError(504, `The remote server was silent for too long (${code}).`);
    const detail = error instanceof Error ? error.message : String(error);
    const told = code === '' ? '' : ` (${code})`;
    return new ProxyError(502, `The connection to the remote server failed${told}.`, detail);
  }
}
