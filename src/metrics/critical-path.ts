import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { latencyEndMsOf } from './latency.ts';
import { firstAudioMs, firstTextMs, type StageTiming, stageTimingsOf } from './stage-timing.ts';

/** Whose time a step is: the client's own, the way, the server as a whole, one stage of it, or the reply's flow. */
export type PathStepKind = 'client' | 'network' | 'server' | 'stage' | 'stream';
export type PathStep = {
  readonly kind: PathStepKind;
  readonly name: string;
  /** ≥ 0 */
  readonly ms: number;
};

/** The steps that a request waited for one after the other, from its due time to its end. */
export type CriticalPath = {
  /** What the steps before `stream` lead to: first audio, else first text, else the whole reply. */
  readonly goal: 'audio' | 'text' | 'reply';
  readonly steps: readonly PathStep[];
};

/**
 * Splits a request's time from when it was due. Stages stand for what they add: the time from the first output of the
 * stage before to their own, since that is what the next one waits for. What the server does not account for is the
 * network's and the server's front door together (`delivery`).
 * @returns `null` where nothing was sent or nothing came
 */
export function criticalPathOf(record: RequestRecord, run: RunFacts): CriticalPath | null {
  const first = record.attempts[0];
  const last = record.attempts.at(-1);
  const endMs = latencyEndMsOf(record, run.endpoint.latencyEnd);
  if (!first || !last || endMs === null || !record.outcome.ok) return null;
  const { goal, firstMs } = firstOutputOf(record, endMs);
  const connectedMs = last.exchanges[0]?.connectedMs ?? last.sendMs;
  const steps: PathStep[] = [
    { kind: 'client', name: 'client queue', ms: first.sendMs - (record.intendedMs ?? first.sendMs) },
    { kind: 'client', name: 'failed attempts', ms: last.sendMs - first.sendMs },
    { kind: 'network', name: 'connection', ms: connectedMs - last.sendMs },
    ...(stageSteps(record, goal, firstMs - connectedMs) ??
      serverSteps(record, goal, { connectedMs, firstMs })),
    { kind: 'stream', name: 'rest of the reply', ms: endMs - firstMs },
  ];
  return { goal, steps: steps.filter(({ ms }) => ms > 0) };
}

function firstOutputOf(
  record: RequestRecord,
  endMs: number,
): { readonly goal: CriticalPath['goal']; readonly firstMs: number } {
  const audioMs = firstAudioMs(record.events);
  if (audioMs !== null) return { goal: 'audio', firstMs: audioMs };
  const textMs = firstTextMs(record.events);
  return textMs === null ? { goal: 'reply', firstMs: endMs } : { goal: 'text', firstMs: textMs };
}

/** `null` where no stage said when it first gave something. */
function stageSteps(record: RequestRecord, goal: CriticalPath['goal'], waitMs: number): PathStep[] | null {
  const stages = stagesUpTo(stageTimingsOf(record), goal);
  if (stages.length === 0) return null;
  const steps: PathStep[] = [];
  let reachedMs = 0;
  for (const { name, firstOutputMs } of stages) {
    // A server's clock may not say more than the client has waited.
    const untilMs = Math.min(Math.max(firstOutputMs, reachedMs), waitMs);
    steps.push({ kind: 'stage', name, ms: untilMs - reachedMs });
    reachedMs = untilMs;
  }
  return [...steps, { kind: 'network', name: 'delivery', ms: waitMs - reachedMs }];
}

function stagesUpTo(
  timings: readonly StageTiming[],
  goal: CriticalPath['goal'],
): (StageTiming & { readonly firstOutputMs: number })[] {
  const giving = timings.findIndex(({ output }) => output === goal);
  return timings
    .slice(0, goal === 'reply' || giving < 0 ? timings.length : giving + 1)
    .flatMap((timing) =>
      timing.firstOutputMs === null ? [] : [{ ...timing, firstOutputMs: timing.firstOutputMs }],
    );
}

function serverSteps(
  record: RequestRecord,
  goal: CriticalPath['goal'],
  { connectedMs, firstMs }: { readonly connectedMs: number; readonly firstMs: number },
): PathStep[] {
  const headersMs = record.attempts.at(-1)?.exchanges[0]?.headersMs ?? connectedMs;
  const atMs = Math.min(Math.max(headersMs, connectedMs), firstMs);
  return [
    { kind: 'server', name: 'until headers', ms: atMs - connectedMs },
    { kind: 'server', name: goal === 'reply' ? 'until the end' : 'until first output', ms: firstMs - atMs },
  ];
}
