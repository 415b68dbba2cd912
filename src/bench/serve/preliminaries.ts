import { type PackedRequests, type PlannedRequest, unpackRequest } from '../../drive/request-table.ts';
import { EndpointUnavailableError } from '../../foundation/errors.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { MeasuredRun } from './measured-run.ts';
import type { BenchServeOptions } from './options.ts';

const retryPauseMs = 5000;
/** Most failed warm-ups that are quoted, and most of each. */
const quotedFailures = 3;
const quotedCharacters = 1000;

/**
 * Sends the first request until one succeeds or the time is up.
 * @throws EndpointUnavailableError when none did
 */
export async function checkReady(
  requests: PackedRequests,
  options: BenchServeOptions,
  run: MeasuredRun,
): Promise<void> {
  const timeoutMs = options.readyCheckTimeoutS * 1000;
  if (timeoutMs <= 0 || requests.count === 0) {
    run.io.stdout('Skipping endpoint ready check.');
    return;
  }
  run.io.stdout(`Waiting for endpoint to become up in ${options.readyCheckTimeoutS} seconds`);
  const deadline = Date.now() + timeoutMs;
  let lastError = `Endpoint readiness timed out after ${options.readyCheckTimeoutS}s.`;
  const first = withoutId(unpackRequest(requests, 0));
  while (run.interrupts.count === 0 && Date.now() < deadline) {
    const remainingMs = Math.max(1, deadline - Date.now());
    const outcome = (await run.one(first, 'readiness', remainingMs))?.outcome;
    if (outcome?.ok) {
      run.io.stdout('Initial test run completed.');
      return;
    }
    if (outcome === undefined || run.interrupts.count > 0) break;
    lastError = outcome.message;
    if (outcome.kind !== 'connect')
      run.io.stderr(`warning: Endpoint is not ready. Error='${outcome.message}'`);
    await run.pause(Math.min(retryPauseMs, Math.max(0, deadline - Date.now())));
  }
  if (run.interrupts.count > 0) return;
  throw new EndpointUnavailableError(
    `Initial test run failed - Please make sure benchmark arguments are correctly specified. Error: ${lastError}`,
  );
}

function withoutId({ prepared, facts }: PlannedRequest): PlannedRequest {
  const headers = prepared.headers.filter(([name]) => name.toLowerCase() !== 'x-request-id');
  return { prepared: { ...prepared, headers }, facts: { ...facts, requestId: null } };
}

/**
 * Sends the warm-ups, at most `--max-concurrency` at once; their records are kept and never measured.
 * @throws EndpointUnavailableError when all of them failed
 */
export async function warmUp(
  requests: PackedRequests,
  options: BenchServeOptions,
  run: MeasuredRun,
): Promise<void> {
  if (requests.count === 0 || run.interrupts.count > 0) return;
  run.io.stdout(`Warming up with ${requests.count} requests...`);
  const records = await run.all(requests, 'warmup', options.maxConcurrency);
  const failures = records.flatMap(({ outcome }) =>
    outcome.ok ? [] : [outcome.message.slice(0, quotedCharacters)],
  );
  if (failures.length > 0 && run.interrupts.count === 0) tellFailures(failures, records, run);
  run.io.stdout('Warmup run completed.');
}

function tellFailures(
  failures: readonly string[],
  records: readonly RequestRecord[],
  run: MeasuredRun,
): void {
  const message = `${failures.length} warmup request(s) failed: ${failures.slice(0, quotedFailures).join('; ')}`;
  if (failures.length === records.length)
    throw new EndpointUnavailableError(`${message}. Every warm-up failed, so no run was started.`);
  run.io.stderr(`warning: ${message}`);
}
