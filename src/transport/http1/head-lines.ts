import { transferCodingProblem } from '../reply-rules.ts';

/** What the status line and headers of a reply say about how it goes on. */
export type ResponseHead = {
  readonly status: number;
  readonly reason: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Minor version of HTTP/1. */
  readonly minor: 0 | 1;
};

/** How a body ends. A number is a content-length. */
export type BodyFraming = 'none' | 'chunked' | 'close' | number;

/** A reply that is not HTTP/1.1 as this client reads it. */
export class MalformedReply extends Error {}

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/;
const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlPattern = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const outerBlanks = /^[ \t]+|[ \t]+$/g;

/** A piece of a reply as it can be shown in a message. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Collects the lines of one head. */
export class HeadBuilder {
  #status = 0;
  #reason = '';
  #minor: 0 | 1 = 1;
  #headers = new Map<string, string>();
  #lastName = '';

  /** Whether the status line has been read. */
  get started(): boolean {
    return this.#status !== 0;
  }

  /** @throws MalformedReply */
  takeStatusLine(line: string): void {
    const match = statusLine.exec(line);
    const status = Number(match?.[2]);
    if (match === null || status < 100) throw new MalformedReply(`the reply begins with ${excerpt(line)}`);
    this.#status = status;
    this.#minor = match[1] === '0' ? 0 : 1;
    this.#reason = match[3] ?? '';
  }

  /** @throws MalformedReply */
  takeHeaderLine(line: string): void {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      this.#continueLine(line);
      return;
    }
    const colonAt = line.indexOf(':');
    const name = line.slice(0, Math.max(colonAt, 0)).toLowerCase();
    const value = line.slice(colonAt + 1).replace(outerBlanks, '');
    if (!namePattern.test(name) || controlPattern.test(value)) {
      throw new MalformedReply(`the reply holds the header line ${excerpt(line)}`);
    }
    this.#lastName = name;
    const before = this.#headers.get(name);
    this.#headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }

  /** A line that begins with a blank continues the one before it (RFC 9112 §5.2). */
  #continueLine(line: string): void {
    const before = this.#headers.get(this.#lastName);
    const more = line.replace(outerBlanks, '');
    if (before === undefined || controlPattern.test(more)) {
      throw new MalformedReply(`the reply holds the header line ${excerpt(line)}`);
    }
    this.#headers.set(this.#lastName, `${before} ${more}`.trimEnd());
  }

  build(): ResponseHead {
    return { status: this.#status, reason: this.#reason, headers: this.#headers, minor: this.#minor };
  }
}

/**
 * How the body of a reply is framed, RFC 9112 §6.3.
 * @throws MalformedReply where the headers contradict each other or cannot be read
 */
export function bodyFraming(method: string, head: ResponseHead): BodyFraming {
  const { status, headers } = head;
  if (method === 'HEAD' || status === 204 || status === 304) return 'none';
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined) {
    if (length !== undefined) {
      throw new MalformedReply('the reply has both a transfer-encoding and a content-length');
    }
    const problem = transferCodingProblem(headers);
    if (problem !== null) throw new MalformedReply(problem);
    return 'chunked';
  }
  if (length === undefined) return 'close';
  const bytes = /^\d{1,16}$/.test(length) ? Number(length) : Number.NaN;
  if (!Number.isSafeInteger(bytes)) {
    throw new MalformedReply(`the reply has the content-length ${excerpt(length)}`);
  }
  return bytes;
}

function tokensOf(value: string | undefined): string[] {
  return (value ?? '').toLowerCase().split(/[\s,]+/);
}

/** Whether the connection may carry another request once this reply's body has ended. */
export function keepsAlive(head: ResponseHead): boolean {
  const tokens = tokensOf(head.headers.get('connection'));
  return head.minor === 1 ? !tokens.includes('close') : tokens.includes('keep-alive');
}

/** How long an idle connection may be used again, ms, from `keep-alive: timeout=…`; `null` = not said. */
export function idleLimitMs(head: ResponseHead): number | null {
  const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(head.headers.get('keep-alive') ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}
