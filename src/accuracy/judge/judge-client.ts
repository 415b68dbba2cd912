import { EnvHttpProxyAgent, request } from 'undici';
import { retryAfterMs } from '../../endpoints/retry-after.ts';
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
/** All pauses of one question together: a judge that asks for more is given up. */
const mostPausesMs = 600_000;
/** Shorter pauses are not worth a word, and no more than one is said in so long, ms. */
const quietMs = 5000;
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
  readonly #say: (line: string) => void;
  readonly #agent = new EnvHttpProxyAgent();
  #saidAtMs = Number.NEGATIVE_INFINITY;
  /** A question was given up because the judge stayed away, and it has answered none since. */
  #isAway = false;

  /**
   * @param sleep waits between two requests of one question
   * @param say hears why a question takes long
   */
  constructor(
    target: JudgeTarget,
    sleep: ((ms: number) => Promise<void>) | null = null,
    say: (line: string) => void = noWord,
  ) {
    this.target = target;
    this.#url = judgeUrl(target.baseUrl);
    this.#sleep = sleep ?? ((ms) => new Promise<void>((done) => setTimeout(done, ms)));
    this.#say = say;
  }

  /**
   * Asks until the answer can be read. What cannot be read is never turned into a score. How long a question takes is
   * bounded: by requests, by the pauses between them, and by one request each while the judge answers nobody.
   * @param read the verdict in an answer; `null` = there is none
   * @throws JudgeError when the judge refuses, stays away, or answers without a verdict time and again
   */
  async ask<T>(question: JudgeQuestion, read: (answer: string) => T | null): Promise<T> {
    const seen: Record<Fault, number> = { load: 0, timeout: 0, connection: 0, unreadable: 0 };
    let pausesMs = 0;
    for (;;) {
      const outcome = await this.#once(question, read);
      const { kind } = outcome;
      if (kind === 'verdict' || kind === 'unreadable') this.#isAway = false;
      if (kind === 'verdict') return outcome.verdict;
      seen[kind] += 1;
      const times = seen[kind];
      this.#count(kind);
      const ownPauseMs =
        kind === 'unreadable' ? 0 : Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
      const pauseMs = outcome.pauseMs ?? ownPauseMs;
      pausesMs += pauseMs;
      const reason = this.#reasonToGiveUp(kind, times, pausesMs, pauseMs);
      if (reason !== null) {
        this.#isAway = kind !== 'unreadable';
        throw new JudgeError(`${outcome.message} (${reason})`);
      }
      this.calls.retries += 1;
      this.#tell(outcome.message, pauseMs, `request ${times + 1} of ${mostRequests[kind]}`);
      await this.#sleep(pauseMs);
    }
  }

  #reasonToGiveUp(kind: Fault, times: number, pausesMs: number, pauseMs: number): string | null {
    if (times >= mostRequests[kind]) return `${times} times; given up`;
    if (kind === 'unreadable') return null;
    if (this.#isAway) return 'given up at once: another question was, and the judge has answered none since';
    if (pausesMs <= mostPausesMs) return null;
    return `it asks to come back in ${pauseMs / 1000} s, and a question waits ${mostPausesMs / 1000} s at most; given up`;
  }

  /** Of many questions that wait for the same thing, one is told. */
  #tell(message: string, pauseMs: number, next: string): void {
    const now = performance.now();
    if (pauseMs < quietMs || now - this.#saidAtMs < quietMs) return;
    this.#saidAtMs = now;
    const what = message.replaceAll(/\s+/g, ' ').slice(0, 200);
    this.#say(`${what}; ${next} in ${pauseMs / 1000} s (${this.calls.retries} repeated so far)`);
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
    const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    const pauseMs = retryAfterMs(header, Date.now());
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

function noWord(): void {}

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
