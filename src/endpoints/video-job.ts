import { nowMs } from '../foundation/clock.ts';
import type { Exchange, Outcome } from '../records/request-record.ts';
import type { ObserveContext } from './endpoint.ts';
import { type Failure, failure, type HttpSend, type ReplyReader, readReply } from './http-reply.ts';
import { jobState } from './job-status.ts';
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
/** Questions in a row that may be refused for now, until the job is given up. */
const mostRefusedPolls = 5;
/** Too many requests, and not now: the job itself goes on. */
const laterStatuses: ReadonlySet<number | null> = new Set([429, 503]);

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
    this.#failure = failure('malformed', 'HTTP 200 response did not contain a JSON object', { status: 200 });
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
  const deadlineMs = startMs + plan.timeoutMs;
  const created = await ask(create, context, exchanges);
  let last = created;
  let job = created.answer;
  const giveUp = (outcome: Outcome): JobResult => ({ exchanges, job, doneMs: null, outcome });
  if (!job || !created.outcome.ok) return giveUp(created.outcome);
  const id = asText(job.id);
  if (id === null || id === '') return giveUp(withoutId(job, created));
  const trouble = { broken: 0, refused: 0 };
  let waitMs = plan.intervalMs;
  // A creation that only gives the id says nothing yet.
  while (jobState(job) === 'running' || (last === created && isBare(job))) {
    const leftMs = deadlineMs - nowMs();
    if (leftMs <= 0) return giveUp(outOfTime(id, job, last));
    await pause(Math.min(waitMs, leftMs), context.stop);
    if (context.stop.stopped) return giveUp(failure('aborted', 'stopped while waiting for the video job'));
    const asked = untilDeadline(context, deadlineMs);
    const poll = await ask(jobRequest(create, id, ''), asked, exchanges);
    if (mayAskAgain(poll, trouble) && !context.stop.stopped) {
      waitMs = Math.max(plan.intervalMs, poll.retryAfterMs ?? 0);
      continue;
    }
    trouble.broken = 0;
    trouble.refused = 0;
    waitMs = plan.intervalMs;
    if (!poll.outcome.ok || !poll.answer) {
      // By which limit it was, not by the clock: a timer may be a little early.
      const isLate =
        !poll.outcome.ok && poll.outcome.kind === 'timeout' && asked.timeoutMs !== context.timeoutMs;
      return giveUp(isLate ? outOfTime(id, job, last) : pollFailure(poll.outcome));
    }
    job = poll.answer;
    last = poll;
  }
  return { exchanges, job, doneMs: last.endMs, outcome: endOf(id, job, last) };
}

/** Whether a question that got no answer may be put again: it broke, or the server asked for patience; not for ever. */
function mayAskAgain(poll: Answered, trouble: { broken: number; refused: number }): boolean {
  if (poll.retryable && trouble.broken < mostBrokenPolls) {
    trouble.broken += 1;
    return true;
  }
  if (!laterStatuses.has(poll.status) || trouble.refused >= mostRefusedPolls) return false;
  trouble.refused += 1;
  return true;
}

/** Whether an answer names neither a state nor an error. */
function isBare(job: JsonObject): boolean {
  return jobState(job) === 'missing' && streamedError(job) === null;
}

/** The context of one question: it may not take longer than the job has left. */
function untilDeadline(context: ObserveContext, deadlineMs: number): ObserveContext {
  const leftMs = Math.max(deadlineMs - nowMs(), 1);
  return { ...context, timeoutMs: context.timeoutMs > 0 ? Math.min(context.timeoutMs, leftMs) : leftMs };
}

function outOfTime(id: string, job: JsonObject, { status, proof }: Answered): Failure {
  const said =
    jobState(job) === 'missing' ? 'It had no status.' : `Its last status was ${JSON.stringify(job.status)}.`;
  return failure('timeout', `Timed out waiting for video job ${id} to complete. ${said}`, {
    status,
    body: proof(),
  });
}

/** What became of a job that goes on no more. */
function endOf(id: string, job: JsonObject, { status, proof }: Answered): Outcome {
  const state = jobState(job);
  if (state === 'done') return { ok: true };
  const seen = { status, body: proof() };
  if (state === 'failed') return failure('job_failed', `Video job failed: ${JSON.stringify(job)}`, seen);
  const said = streamedError(job);
  if (state === 'unknown')
    return failure(
      'job_failed',
      `Video job ${id} ended with the status ${JSON.stringify(job.status)}${said === null ? '' : `: ${said}`}, expected completed or succeeded`,
      seen,
    );
  return said === null
    ? failure('malformed', `Polling failed: the answer about video job ${id} has no status`, seen)
    : failure('stream_error', `Polling failed: ${said}`, seen);
}

/** A question about a job: to the URL that created it, without the form. */
export function jobRequest(create: HttpSend, id: string, path: string): HttpSend {
  const headers = create.headers.filter(([name]) => name.toLowerCase() !== 'content-type');
  const url = `${create.url.replace(/\/+$/, '')}/${encodeURIComponent(id)}${path}`;
  return { method: 'GET', url, headers, body: null };
}

function withoutId(job: JsonObject, { status, proof }: Answered): Failure {
  const said = streamedError(job);
  return failure(
    said === null ? 'malformed' : 'stream_error',
    said ?? 'Video creation response missing job id.',
    {
      status,
      body: proof(),
    },
  );
}

function pollFailure(outcome: Outcome): Outcome {
  if (outcome.ok) return failure('malformed', 'Polling failed: the reply is no JSON object');
  return outcome.kind === 'aborted' ? outcome : { ...outcome, message: `Polling failed ${outcome.message}` };
}

/** One answer of the server. */
type Answered = {
  readonly answer: JsonObject | null;
  readonly outcome: Outcome;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly status: number | null;
  readonly endMs: number;
  proof(): string;
};

async function ask(send: HttpSend, context: ObserveContext, exchanges: Exchange[]): Promise<Answered> {
  const reader = new AnswerReader();
  const { attempt, ...reply } = await readReply(send, context, reader);
  exchanges.push(...attempt.exchanges);
  return {
    ...reply,
    answer: reader.answer,
    status: attempt.exchanges[0]?.status ?? null,
    endMs: attempt.endMs,
  };
}
