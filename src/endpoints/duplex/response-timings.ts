import { roundTo } from '../../foundation/nearest-rank.ts';
import type {
  DuplexOrigins,
  DuplexRequestRow,
  DuplexResponseTimings,
  DuplexStageZero,
} from '../../records/duplex-session.ts';
import type { StageSnapshot } from '../../records/request-record.ts';
import {
  asArray,
  asObject,
  asText,
  believableFields,
  isBelievable,
  type JsonObject,
} from '../json-values.ts';
import { outputRateHz } from './playback-queue.ts';

/** What times of a response count from, in place of its creation. */
export type ResponseOrigin = {
  readonly fromMs: number;
  readonly texts: { readonly ttft: string; readonly ttfp: string; readonly rtf: string };
};

const clientOrigins = {
  ttft: 'response.created client receive to first non-empty text delta',
  ttfp: 'response.created client receive to first audio packet',
  rtf: 'response.created client receive to last audio packet divided by emitted audio duration',
};
const engineTpotOrigin = 'Stage-0 engine mean time per output token';

/** No pipeline has more stages; a server that names more is not to fill the record. */
const mostStages = 64;

/** What was seen of one response, times as received; ms, `null` = not seen. */
export class ResponseTimings {
  createdMs: number | null = null;
  firstTextMs: number | null = null;
  firstAudioMs: number | null = null;
  lastAudioMs: number | null = null;
  #audioBytes = 0;
  #announcedMs: number | null = null;
  #serverTtftMs: number | null = null;
  #serverTtfpMs: number | null = null;
  #serverOrigins: { ttft?: string; ttfp?: string } = {};
  readonly stages: Record<string, StageSnapshot> = {};
  readonly #onNonsense: (name: string, value: unknown) => void;

  /** @param onNonsense hears of each figure that the server cannot mean, which then counts as not sent */
  constructor(onNonsense: (name: string, value: unknown) => void = () => {}) {
    this.#onNonsense = onNonsense;
  }

  get hasAudio(): boolean {
    return this.firstAudioMs !== null;
  }

  /** As the server counts it, else by the bytes. */
  get audioDurationMs(): number {
    return this.#announcedMs ?? (this.#audioBytes * 1000) / (outputRateHz * 2);
  }

  onText(timeMs: number): void {
    this.firstTextMs ??= timeMs;
  }

  onAudio(timeMs: number, bytes: number, event: JsonObject): void {
    this.firstAudioMs ??= timeMs;
    this.lastAudioMs = timeMs;
    this.#audioBytes += bytes;
    const announced = this.#figure('audio_duration_ms', asObject(event.metadata)?.audio_duration_ms);
    if (announced !== null) this.#announcedMs = Math.max(this.#announcedMs ?? 0, announced);
  }

  /** Reads what the engine says of itself; called for every event that names the response. */
  onCarrier(event: JsonObject): void {
    const server = firstObject(event, serverPlaces, 'response_request_metrics');
    if (server !== null) this.#readServer(server);
    const stages = firstObject(event, stagePlaces, 'stage_metrics');
    for (const [id, snapshot] of Object.entries(stages ?? {})) {
      const fields = asObject(snapshot);
      if (fields !== null) this.#takeStage(id, fields);
    }
  }

  #takeStage(id: string, fields: JsonObject): void {
    if (!Object.hasOwn(this.stages, id) && Object.keys(this.stages).length >= mostStages) return;
    const kept = believableFields(fields);
    this.stages[id] = kept;
    for (const [name, value] of Object.entries(fields))
      if (!Object.hasOwn(kept, name) || isNonsense(id, name, value))
        this.#onNonsense(`${name} of stage ${id}`, value);
  }

  /** A finite figure ≥ 0, or `null`: not sent, or nonsense. */
  #figure(name: string, value: unknown): number | null {
    const figure = nonNegative(value);
    if (figure === null && value !== undefined && value !== null) this.#onNonsense(name, value);
    return figure;
  }

  get audioBytes(): number {
    return this.#audioBytes;
  }

  /**
   * @param origin where it is given, all times are this client's: a server counts from its own moments only
   * @returns `null` where the response had neither audio nor engine metrics
   */
  row(requestIndex: number, responseId: string, origin?: ResponseOrigin): DuplexRequestRow | null {
    if (!this.hasAudio && Object.keys(this.stages).length === 0) return null;
    const stageZero = stageZeroOf(this.stages['0']);
    return {
      requestIndex,
      responseId,
      timings: this.hasAudio ? this.#timings(stageZero, origin) : null,
      stageZero,
      stages: this.stages,
    };
  }

  #readServer(metrics: JsonObject): void {
    this.#serverTtftMs = this.#figure('ttft_ms', metrics.ttft_ms) ?? this.#serverTtftMs;
    this.#serverTtfpMs = this.#figure('ttfp_ms', metrics.ttfp_ms) ?? this.#serverTtfpMs;
    const origins = asObject(metrics.measurement_origin);
    const ttft = asText(origins?.ttft);
    const ttfp = asText(origins?.ttfp);
    if (ttft !== null) this.#serverOrigins.ttft = ttft;
    if (ttfp !== null) this.#serverOrigins.ttfp = ttfp;
  }

  #timings(stageZero: DuplexStageZero | null, origin?: ResponseOrigin): DuplexResponseTimings {
    const fromMs = origin?.fromMs ?? this.createdMs;
    const since = (timeMs: number | null): number | null =>
      timeMs === null || fromMs === null ? null : timeMs - fromMs;
    const rounded = (ms: number | null): number | null => (ms === null ? null : roundTo(ms, 3));
    const clientTtftMs = rounded(since(this.firstTextMs));
    const clientTtfpMs = rounded(since(this.firstAudioMs));
    const generated = since(this.lastAudioMs);
    const generationMs = generated === null ? null : Math.max(0, generated);
    const durationMs = this.audioDurationMs;
    const serverTtftMs = origin ? null : rounded(this.#serverTtftMs);
    const serverTtfpMs = origin ? null : rounded(this.#serverTtfpMs);
    const serverTimed = serverTtftMs !== null || serverTtfpMs !== null;
    return {
      source: serverTimed ? 'server_request_start_and_client_receive' : 'client_monotonic_receive',
      origins: this.#origins(stageZero, origin),
      ttftMs: serverTtftMs ?? clientTtftMs,
      ttfpMs: serverTtfpMs ?? clientTtfpMs,
      audioGenerationMs: rounded(generationMs),
      audioDurationMs: roundTo(durationMs, 3),
      rtf: generationMs === null || durationMs <= 0 ? null : roundTo(generationMs / durationMs, 6),
      clientTtftMs,
      clientTtfpMs,
    };
  }

  /** A server's words stand only for figures that are the server's. */
  #origins(stageZero: DuplexStageZero | null, origin?: ResponseOrigin): DuplexOrigins {
    const { ttft, ttfp } = this.#serverOrigins;
    const tpot = stageZero === null || stageZero.tpotMs === null ? {} : { tpot: engineTpotOrigin };
    if (origin) return { ...origin.texts, ...tpot };
    return {
      ttft: this.#serverTtftMs === null ? clientOrigins.ttft : (ttft ?? unnamedServerOrigin),
      ttfp: this.#serverTtfpMs === null ? clientOrigins.ttfp : (ttfp ?? unnamedServerOrigin),
      rtf: clientOrigins.rtf,
      ...tpot,
    };
  }
}

/** For servers that send a figure and do not say what it starts from. */
const unnamedServerOrigin = 'server request-execution start, as the server measured it';

const stagePlaces = [
  ['vllm_omni'],
  ['metadata'],
  ['metadata', 'vllm_omni'],
  ['response', 'metadata'],
  ['response', 'metadata', 'vllm_omni'],
] as const;
const serverPlaces = [
  [],
  ['vllm_omni'],
  ['metadata'],
  ['metadata', 'vllm_omni'],
  ['metadata', 'duplex_event'],
  ['response', 'metadata'],
  ['response', 'metadata', 'vllm_omni'],
  ['response', 'metadata', 'duplex_event'],
] as const;

/** The first object of that name in the places where servers put it. */
function firstObject(
  event: JsonObject,
  places: readonly (readonly string[])[],
  name: string,
): JsonObject | null {
  for (const path of places) {
    let place: JsonObject | null = event;
    for (const key of path) place = asObject(place?.[key]);
    const found = asObject(place?.[name]);
    if (found !== null) return found;
  }
  return null;
}

function stageZeroOf(snapshot: StageSnapshot | undefined): DuplexStageZero | null {
  if (snapshot === undefined) return null;
  return {
    outputTokenCount: wholeNumber(snapshot.num_tokens_out),
    ttftMs: nonNegative(snapshot.vllm_ttft_ms),
    tpotMs: nonNegative(snapshot.vllm_tpot_ms),
    itlsMs: asArray(snapshot.vllm_itls_ms).filter((gap): gap is number => nonNegative(gap) !== null),
  };
}

/** A figure ≥ 0 that a server can mean, or `null`. */
function nonNegative(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && isBelievable(value) ? value : null;
}

function wholeNumber(value: unknown): number | null {
  const figure = nonNegative(value);
  return figure !== null && Number.isInteger(figure) ? figure : null;
}

/** Whether fields of the text stage can be meant, where they are sent at all. */
const stageZeroChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  num_tokens_out: (value) => wholeNumber(value) !== null,
  vllm_ttft_ms: (value) => nonNegative(value) !== null,
  vllm_tpot_ms: (value) => nonNegative(value) !== null,
  vllm_itls_ms: (value) => Array.isArray(value) && value.every((gap) => nonNegative(gap) !== null),
};

function isNonsense(stage: string, name: string, value: unknown): boolean {
  if (stage !== '0' || value === null || !Object.hasOwn(stageZeroChecks, name)) return false;
  return stageZeroChecks[name]?.(value) === false;
}
