import { nowMs } from '../foundation/clock.ts';
import type { Exchange, Outcome } from '../records/request-record.ts';
import type { ObserveContext } from './endpoint.ts';
import { type Failure, failure, type HttpSend, type ReplyReader, readReply } from './http-reply.ts';
import { asObject, asText, type JsonObject } from './json-values.ts';
import { pause } from './pause.ts';
import { streamedError } from './reply-facts.ts';

export type PollPlan = {
  /** Between the end of one answer and the next question, ms. */
  readonly intervalMs: number;
  /** From the first send, ms. */
  readonly timeoutMs: number;
};

/** How a job went: everything that was asked of the server, and its last word. */
export type JobResult = {
  readonly exchanges: readonly Exchange[];
  /** The job as the server last described it; `null` = it never did. */
  readonly job: JsonObject | null;
  /** When the terminal status was read, ms; `null` = none was. */
  readonly doneMs: number | null;
  readonly outcome: Outcome;
};

/** Questions that may break one after the other, before a byte of their answer came, until the job is given up. */
const mostBrokenPolls = 3;

/** Keeps the JSON object of one answer. */
class AnswerReader implements ReplyReader {
  answer: JsonObject | null = null;
  #failure: Failure | null = null;

  onMessage(): void {
    this.#failure = failure('content_type', 'the reply is a stream of events, expected JSON', {
      status: 200,
    });
  }

  onWhole(body: unknown): void {
    this.answer = asObject(body);
    if (this.answer) return;
    const text = JSON.stringify(body).slice(0, 1024);
    this.#failure = failure('malformed', 'HTTP 200 response did not contain a JSON object', {
      status: 200,
      body: text,
    });
  }

  verdict(): Failure | null {
    return this.#failure;
  }
}

/**
 * Creates a job and asks after it until it has ended. Time limits of the run hold for each exchange; `plan` limits the
 * job. The answer to the creation may already be the last word.
 */
export async function runVideoJob(
  create: HttpSend,
  context: ObserveContext,
  plan: PollPlan,
): Promise<JobResult> {
  const exchanges: Exchange[] = [];
  const startMs = nowMs();
  const created = await ask(create, context, exchanges);
  let job = created.answer;
  if (!job || !created.outcome.ok) return { exchanges, job, doneMs: null, outcome: created.outcome };
  const id = asText(job.id);
  const giveUp = (outcome: Outcome): JobResult => ({ exchanges, job, doneMs: null, outcome });
  if (id === null || id === '')
    return giveUp(
      failure(streamedError(job) === null ? 'malformed' : 'stream_error', missingId(job), {
        status: created.status,
        body: JSON.stringify(job).slice(0, 1024),
      }),
    );
  let doneMs = created.endMs;
  let broken = 0;
  while (!isTerminal(job)) {
    const leftMs = startMs + plan.timeoutMs - nowMs();
    if (leftMs <= 0) return giveUp(failure('timeout', `Timed out waiting for video job ${id} to complete.`));
    await pause(Math.min(plan.intervalMs, leftMs), context.stop);
    if (context.stop.stopped) return giveUp(failure('aborted', 'stopped while waiting for the video job'));
    const poll = await ask(jobRequest(create, id, ''), context, exchanges);
    if (poll.retryable && broken < mostBrokenPolls && !context.stop.stopped) {
      broken += 1;
      continue;
    }
    broken = 0;
    if (!poll.outcome.ok || !poll.answer) return giveUp(pollFailure(poll.outcome));
    job = poll.answer;
    doneMs = poll.endMs;
  }
  const outcome: Outcome =
    job.status === 'completed'
      ? { ok: true }
      : failure('job_failed', `Video job failed: ${JSON.stringify(job)}`, {
          status: 200,
          body: JSON.stringify(job).slice(0, 16_384),
        });
  return { exchanges, job, doneMs, outcome };
}

/** A question about a job: to the URL that created it, without the form. */
export function jobRequest(create: HttpSend, id: string, path: string): HttpSend {
  const headers = create.headers.filter(([name]) => name.toLowerCase() !== 'content-type');
  const url = `${create.url.replace(/\/+$/, '')}/${encodeURIComponent(id)}${path}`;
  return { method: 'GET', url, headers, body: null };
}

function isTerminal(job: JsonObject): boolean {
  return job.status === 'completed' || job.status === 'failed';
}

function missingId(job: JsonObject): string {
  const said = streamedError(job);
  return said === null ? 'Video creation response missing job id.' : said;
}

function pollFailure(outcome: Outcome): Outcome {
  if (outcome.ok) return failure('malformed', 'Polling failed: the reply is no JSON object');
  return outcome.kind === 'aborted' ? outcome : { ...outcome, message: `Polling failed ${outcome.message}` };
}

async function ask(
  send: HttpSend,
  context: ObserveContext,
  exchanges: Exchange[],
): Promise<{
  readonly answer: JsonObject | null;
  readonly outcome: Outcome;
  readonly retryable: boolean;
  readonly status: number | null;
  readonly endMs: number;
}> {
  const reader = new AnswerReader();
  const { attempt, outcome, retryable } = await readReply(send, context, reader);
  exchanges.push(...attempt.exchanges);
  return {
    answer: reader.answer,
    outcome,
    retryable,
    status: attempt.exchanges[0]?.status ?? null,
    endMs: attempt.endMs,
  };
}
