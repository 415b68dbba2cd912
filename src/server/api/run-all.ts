import { type CollectedRun, collectRun } from './collect-run.ts';
import type { ReplyLife, RunRequest } from './reply-life.ts';

/**
 * Starts a run for each request and waits for all.
 * @throws RequestError where one fails; the others are stopped
 */
export function runAll(life: ReplyLife, requests: readonly RunRequest[]): Promise<CollectedRun[]> {
  return Promise.all(requests.map((request) => collectRun(life, request)));
}
