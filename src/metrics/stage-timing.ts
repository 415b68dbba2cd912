import { type EventLog, eventKinds } from '../records/event-log.ts';
import type { RequestRecord, StageSnapshot } from '../records/request-record.ts';
import { positiveFigure } from './snapshot-number.ts';
import { isTokenChunk } from './token-events.ts';

/** When one stage worked on one request, as far as its snapshot says; times in ms. */
export type StageTiming = {
  readonly id: string;
  readonly name: string;
  /** What the client gets of it; `null` = an inner stage, or the stage does not say. */
  readonly output: 'text' | 'audio' | 'image' | 'video' | null;
  /** From the server's accepting the request to the stage's first output; `null` = not reported. */
  readonly firstOutputMs: number | null;
  /** How long the stage had the request; waiting for its input is in it. `null` = not reported. */
  readonly genMs: number | null;
  /** From the first to the last output; `null` = not reported. */
  readonly streamMs: number | null;
};

/** The stages that a request's first response reported, in numeric order of their ids. */
export function stageTimingsOf(record: RequestRecord): StageTiming[] {
  const stages = record.responses.find((response) => Object.keys(response.stages).length > 0)?.stages ?? {};
  return Object.entries(stages)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([id, snapshot]) => timingOf(id, snapshot));
}

function timingOf(id: string, snapshot: StageSnapshot): StageTiming {
  const { stage_name: name } = snapshot;
  const perUnitMs = positiveFigure(snapshot.time_per_output_unit_ms);
  const units = positiveFigure(snapshot.output_unit_count);
  return {
    id,
    name: typeof name === 'string' && name !== '' ? name : `stage ${id}`,
    output: outputOf(snapshot.final_output_type),
    firstOutputMs: positiveFigure(snapshot.serving_time_to_first_output_ms),
    genMs: positiveFigure(snapshot.stage_gen_time_ms),
    streamMs: perUnitMs !== null && units !== null ? perUnitMs * (units - 1) : null,
  };
}

function outputOf(type: unknown): StageTiming['output'] {
  if (type === 'text' || type === 'audio' || type === 'image' || type === 'video') return type;
  if (type === 'images') return 'image';
  return type === 'videos' ? 'video' : null;
}

/** First and last message with output of a kind, ms on the run's clock. */
export type OutputSpan = { readonly firstMs: number; readonly lastMs: number; readonly messages: number };

/** When a reply's text (or reasoning, tool calls) came; `null` = none came as a stream. */
export function textSpanOf(events: EventLog): OutputSpan | null {
  return spanOf(events, (i) => isTokenChunk(events, i));
}

/** When a reply's audio came; `null` = none came as a stream. */
export function audioSpanOf(events: EventLog): OutputSpan | null {
  return spanOf(events, (i) => events.kinds[i] === eventKinds.audio);
}

/** When the first audio of a reply came, ms on the run's clock; `null` = none came as a stream. */
export function firstAudioMs(events: EventLog): number | null {
  const first = events.kinds.indexOf(eventKinds.audio);
  return first < 0 ? null : (events.timesMs[first] ?? null);
}

/** When the first text of a reply came, ms on the run's clock; `null` = none came as a stream. */
export function firstTextMs(events: EventLog): number | null {
  for (let i = 0; i < events.kinds.length; i += 1)
    if (isTokenChunk(events, i)) return events.timesMs[i] ?? null;
  return null;
}

/** When a reply's images came; `null` = none came as messages of their own. */
export function imageSpanOf(events: EventLog): OutputSpan | null {
  return spanOf(events, (i) => events.kinds[i] === eventKinds.image);
}

function spanOf(events: EventLog, belongs: (index: number) => boolean): OutputSpan | null {
  let first = -1;
  let last = -1;
  let messages = 0;
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (!belongs(i)) continue;
    if (first < 0) first = i;
    last = i;
    messages += 1;
  }
  if (first < 0) return null;
  return { firstMs: events.timesMs[first] ?? 0, lastMs: events.timesMs[last] ?? 0, messages };
}
