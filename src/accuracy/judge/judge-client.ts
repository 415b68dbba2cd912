import { EnvHttpProxyAgent, request } from 'undici';
import { messageOf, OmnimeterError } from '../../foundation/errors.ts';

/** A judge that could not be asked, or whose answer says nothing. It fails what it was to judge and nothing else. */
export class JudgeError extends OmnimeterError {
  override readonly code = 'JUDGE';
}

/** Content of a message to a judge: text, or parts with pictures and videos. */
export type JudgeContent = string | readonly Readonly<Record<string, unknown>>[];

/** One question to a judge. */
export type JudgeQuestion = { readonly system: string; readonly user: JudgeContent };

/** Where a judge is and how it is asked. */
export type JudgeTarget = {
  /** With or without `/v1` or `/v1/chat/completions`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string;
  /** Limit of one request. */
  readonly timeoutS: number;
  readonly maxTokens: number;
  readonly temperature: number;
};

/** What asking cost, over all questions so far. */
export type JudgeCalls = {
  requests: number;
  /** Requests that repeat one, for whichever reason. */
  retries: number;
  /** Answers with 429 or, with a time to come back, 503. */
  refusedForLoad: number;
  timeouts: number;
  brokenConnections: number;
  /** Answers from which no verdict could be read. */
  unreadableAnswers: number;
};

/** Requests of one question in all: a busy judge is asked longest, an unreadable one shortest. */
const mostRequests = { load: 8, timeout: 3, connection: 3, unreadable: 3 };
const firstPauseMs = 1000;
const longestPauseMs = 60_000;
/** A judge's answer is a line of JSON. */
const mostAnswerBytes = 4 * 1024 * 1024;

type Fault = keyof typeof mostRequests;
type Outcome<T> =
  | { readonly kind: 'verdict'; readonly verdict: T }
  | { readonly kind: Fault; readonly message: string; readonly pauseMs: number | null };

/** Asks a judge through the chat API of OpenAI. */
export class JudgeClient {
  readonly target: JudgeTarget;
  readonly calls: JudgeCalls = {
    requests: 0,
    retries: 0,
    refusedForLoad: 0,
    timeouts: 0,
    brokenConnections: 0,
    unreadableAnswers: 0,
  };
  readonly #url: string;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #agent = new EnvHttpProxyAgent();

  /** @param sleep waits between two requests of one question */
  constructor(
    target: JudgeTarget,
    sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
  ) {
    this.target = target;
    this.#url = judgeUrl(target.baseUrl);
    this.#sleep = sleep;
  }

  /**
   * Asks until the answer can be read. What cannot be read is never turned into a score.
   * @param read the verdict in an answer; `null` = there is none
   * @throws JudgeError when the judge refuses, stays away, or answers without a verdict time and again
   */
  async ask<T>(question: JudgeQuestion, read: (answer: string) => T | null): Promise<T> {
    const seen: Record<Fault, number> = { load: 0, timeout: 0, connection: 0, unreadable: 0 };
    for (;;) {
      const outcome = await this.#once(question, read);
      if (outcome.kind === 'verdict') return outcome.verdict;
      seen[outcome.kind] += 1;
      const times = seen[outcome.kind];
      this.#count(outcome.kind);
      if (times >= mostRequests[outcome.kind])
        throw new JudgeError(`${outcome.message} (${times} times; given up)`);
      this.calls.retries += 1;
      const backoffMs = outcome.kind === 'unreadable' ? 0 : firstPauseMs * 2 ** (times - 1);
      await this.#sleep(Math.min(outcome.pauseMs ?? backoffMs, longestPauseMs));
    }
  }

  #count(fault: Fault): void {
    if (fault === 'load') this.calls.refusedForLoad += 1;
    else if (fault === 'timeout') this.calls.timeouts += 1;
    else if (fault === 'connection') this.calls.brokenConnections += 1;
    else this.calls.unreadableAnswers += 1;
  }

  async #once<T>(question: JudgeQuestion, read: (answer: string) => T | null): Promise<Outcome<T>> {
    this.calls.requests += 1;
    const signal = AbortSignal.timeout(this.target.timeoutS * 1000);
    try {
      const reply = await request(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${this.target.apiKey}`,
        },
        body: JSON.stringify(this.#body(question)),
        dispatcher: this.#agent,
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return this.#judged(reply.statusCode, reply.headers['retry-after'], await textOf(reply.body), read);
    } catch (error) {
      if (error instanceof JudgeError) throw error;
      const message = `judge request failed: ${messageOf(error)}`;
      if (!signal.aborted) return { kind: 'connection', message, pauseMs: null };
      return {
        kind: 'timeout',
        message: `judge request failed: no answer within ${this.target.timeoutS} s`,
        pauseMs: null,
      };
    }
  }

  #judged<T>(
    status: number,
    retryAfter: string | string[] | undefined,
    text: string,
    read: (answer: string) => T | null,
  ): Outcome<T> {
    const message = `judge returned HTTP ${status}: ${text.slice(0, 500)}`;
    const pauseMs = retryAfterMs(retryAfter);
    if (status === 429 || (status === 503 && pauseMs !== null)) return { kind: 'load', message, pauseMs };
    if (status < 200 || status > 299) throw new JudgeError(message);
    const answer = answerOf(text);
    if (answer === null)
      return {
        kind: 'unreadable',
        message: `unexpected judge response: ${text.slice(0, 500)}`,
        pauseMs: null,
      };
    const verdict = read(answer);
    if (verdict !== null) return { kind: 'verdict', verdict };
    return {
      kind: 'unreadable',
      message: `the judge's answer holds no verdict: ${answer.slice(0, 500)}`,
      pauseMs: null,
    };
  }

  #body({ system, user }: JudgeQuestion): Record<string, unknown> {
    return {
      model: this.target.model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      temperature: this.target.temperature,
      stream: false,
      max_tokens: this.target.maxTokens,
    };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** A base URL as it is compared and shown: without blanks around it and slashes behind it. */
export function trimmedBaseUrl(baseUrl: string): string {
  return baseUrl.trim().replace(/\/+$/, '');
}

/** The address of the chat API below a base URL. */
export function judgeUrl(baseUrl: string): string {
  const base = trimmedBaseUrl(baseUrl);
  if (base.endsWith('/chat/completions')) return base;
  return `${base}${base.endsWith('/v1') ? '' : '/v1'}/chat/completions`;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > mostAnswerBytes) throw new JudgeError(`the judge's answer is over ${mostAnswerBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** How long to wait, ms: seconds, or a date. `null` = not said. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function answerOf(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const first = isObject(body) && Array.isArray(body.choices) ? (body.choices[0] as unknown) : null;
  const message = isObject(first) ? first.message : null;
  const content = isObject(message) ? message.content : null;
  return typeof content === 'string' ? content : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
