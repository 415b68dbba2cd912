import type { PipelineRequest, PipelineRun, ReplySink } from '../pipeline/pipeline-run.ts';
import { describeRun } from '../pipeline/run-summary.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import type { RunProgress } from './run-progress.ts';

/** Makes the ids of requests under way unique although callers may repeat theirs. */
let started = 0;

/**
 * Starts the run behind a reply, and stops it in every stage when the client goes away.
 * @param makeSink gets what it may ask of the run, and what to call when the reply has been sent
 */
export function startRun(
  context: ApiContext,
  accepted: AcceptedRequest,
  request: Omit<PipelineRequest, 'id' | 'acceptedMs'>,
  makeSink: (run: () => RunProgress, onEnd: () => void) => ReplySink,
): void {
  const { response, truth, acceptedMs } = accepted;
  started += 1;
  const id = `${accepted.id}-${started}`;
  let run: PipelineRun | null = null;
  let replied = false;
  const progress = (): RunProgress => {
    if (run === null) throw new Error('A reply was written before its run had started');
    return run;
  };
  const onEnd = (): void => {
    replied = true;
    if (run !== null) context.logLine?.(describeRun(accepted.id, acceptedMs, run));
  };
  const onClose = (): void => {
    if (replied) return;
    truth.note('abort');
    run?.abort();
  };
  // The client may have left while its prompt was counted.
  if (response.destroyed || response.closed) {
    onClose();
    return;
  }
  response.on('close', onClose);
  run = context.orchestrator.submit({ ...request, id, acceptedMs }, makeSink(progress, onEnd));
}
