import type { JsonObject } from './json-values.ts';

/** `unknown` = a word that no server is known to use for a job that goes on. */
export type JobState = 'running' | 'done' | 'failed' | 'unknown' | 'missing';

/** Words of servers for a job that goes on; OpenAI's are `queued` and `in_progress`. */
const running = new Set([
  'queued',
  'in_queue',
  'in_progress',
  'pending',
  'processing',
  'preprocessing',
  'running',
  'created',
  'accepted',
  'submitted',
  'scheduled',
  'waiting',
  'starting',
  'started',
  'generating',
]);
const done = new Set(['completed', 'succeeded']);

/**
 * How far a job is by its `status`, whatever its case. A word that is not known ends the wait: were it polled on, a job
 * that was cancelled would hold its place until its time limit.
 */
export function jobState(job: JsonObject): JobState {
  const status = String(job.status ?? '')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  if (status === '') return 'missing';
  if (done.has(status)) return 'done';
  if (running.has(status)) return 'running';
  return status === 'failed' ? 'failed' : 'unknown';
}
