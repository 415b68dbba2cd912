import type { DuplexSessionFacts } from '../records/duplex-session.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { peakOverlap } from './exact-concurrency.ts';
import { ExactTokenPeak } from './exact-token-peak.ts';
import { goodputTest } from './goodput.ts';
import { latencyEndMsOf, startMsOf } from './latency.ts';
import type { RequestFigures } from './request-figures.ts';
import type { RunFigures, RunPeaks } from './run-figures.ts';
import { SampleColumn } from './sample-column.ts';
import { SecondBuckets } from './second-buckets.ts';
import { visitShared } from './token-arrivals.ts';

/** Prompt length of a request: the server's word, else the client's; `null` = nobody counted. */
export function inputTokensOf(record: RequestRecord): number | null {
  return record.promptTokens ?? record.plannedPromptTokens;
}

type Sums = { -readonly [Key in keyof RunFigures]: RunFigures[Key] };

/** Adds up the figures of a run, one successful request at a time. */
export class RunTally {
  readonly #sums: Sums;
  readonly #isGood: ((request: RequestFigures) => boolean) | null;
  readonly #buckets: SecondBuckets | null;
  readonly #tokenPeak: ExactTokenPeak | null;
  #sessions = 0;
  #pacedChunks = 0;
  #lagMs = 0;

  /** @param measured all measured records, failed ones too */
  constructor(measured: readonly RequestRecord[], run: RunFacts) {
    this.#isGood = goodputTest(run.goodput);
    const span = spanOf(measured, run);
    this.#buckets = span && new SecondBuckets(span.startMs, span.endMs);
    this.#tokenPeak = span && new ExactTokenPeak(span.startMs, span.endMs);
    this.#sums = { ...nothing, run, durationS: durationOf(measured, run), ...outcomesOf(measured) };
    this.#sums.kept = measured.filter(({ kept }) => kept === true).length;
    this.#sums.peaks = { ...nothing.peaks, concurrentExact: inFlightPeak(measured) };
    this.#sums.good = this.#isGood && 0;
  }

  add(request: RequestFigures): void {
    const sums = this.#sums;
    const { record } = request;
    sums.inputTokens += inputTokensOf(record) ?? 0;
    sums.outputTokens += request.outputTokens;
    if (record.outputTokens !== null) sums.countedReplies += 1;
    if (sums.good !== null && this.#isGood?.(request)) sums.good += 1;
    sums.inputAudioDurationS += record.inputAudioDurationS ?? 0;
    this.#addAudio(request);
    this.#addPictures(record);
    this.#addTokens(request);
    sums.coalescedEvents += coalesced(record.events.timesMs);
    if (record.duplex !== null) this.#addPacing(record.duplex);
  }

  #addPacing({ inputAudioChunks, pacingMeanLagMs, pacingMaxLagMs }: DuplexSessionFacts): void {
    this.#sessions += 1;
    if (inputAudioChunks === 0 || pacingMeanLagMs === null || pacingMaxLagMs === null) return;
    this.#pacedChunks += inputAudioChunks;
    this.#lagMs += pacingMeanLagMs * inputAudioChunks;
    this.#sums.pacingMaxLagMs = Math.max(this.#sums.pacingMaxLagMs ?? 0, pacingMaxLagMs);
  }

  figures(): RunFigures {
    const peaks: RunPeaks = {
      concurrentExact: this.#sums.peaks.concurrentExact,
      concurrent: this.#buckets?.peakRequests() ?? 0,
      tokensPerS: this.#sessions > 0 ? null : (this.#buckets?.peakTokens() ?? 0),
      tokensPerSExact: this.#sessions > 0 ? null : (this.#tokenPeak?.peak() ?? 0),
    };
    const pacingMeanLagMs = this.#pacedChunks > 0 ? this.#lagMs / this.#pacedChunks : null;
    return { ...this.#sums, pacingMeanLagMs, peaks };
  }

  #addAudio({ record, run, audio }: RequestFigures): void {
    const sums = this.#sums;
    if (record.audio === null) return;
    sums.audioReplies += 1;
    if (record.audio.durationS !== null) sums.timedAudioReplies += 1;
    sums.audioDurationS += record.audio.durationS ?? 0;
    sums.audioFrames += record.audio.frames ?? 0;
    if (!audio?.continuity) return;
    sums.continuityKnown += 1;
    if (audio.continuity.underrunS <= run.continuityThresholdS) sums.continuityOk += 1;
  }

  #addPictures({ image, video }: RequestRecord): void {
    const sums = this.#sums;
    sums.images += image?.count ?? 0;
    sums.pixels += image?.pixels ?? 0;
    sums.sizedImages += image?.sizedCount ?? 0;
    sums.videoDurationS += video?.durationS ?? 0;
    sums.videoFrames += video?.frames ?? 0;
  }

  #addTokens(request: RequestFigures): void {
    const { startMs, endMs, firstTokenMs, gapsMs, outputTokens, record } = request;
    this.#buckets?.addRequest(startMs, endMs);
    if (firstTokenMs === null) return;
    this.#buckets?.addTokens(firstTokenMs, gapsMs);
    visitShared(record.events, outputTokens, (timeMs, tokens) => this.#tokenPeak?.add(timeMs, tokens));
  }
}

const nothing: Omit<RunFigures, 'run'> = {
  durationS: null,
  completed: 0,
  failed: 0,
  aborted: 0,
  good: null,
  inputTokens: 0,
  outputTokens: 0,
  countedReplies: 0,
  audioReplies: 0,
  timedAudioReplies: 0,
  audioDurationS: 0,
  audioFrames: 0,
  continuityKnown: 0,
  continuityOk: 0,
  inputAudioDurationS: 0,
  images: 0,
  pixels: 0,
  sizedImages: 0,
  videoDurationS: 0,
  videoFrames: 0,
  coalescedEvents: 0,
  pacingMeanLagMs: null,
  pacingMaxLagMs: null,
  kept: 0,
  peaks: { tokensPerS: 0, concurrent: 0, tokensPerSExact: 0, concurrentExact: 0 },
};

function outcomesOf(
  measured: readonly RequestRecord[],
): Pick<RunFigures, 'completed' | 'failed' | 'aborted'> {
  const counts = { completed: 0, failed: 0, aborted: 0 };
  for (const { outcome } of measured) {
    if (outcome.ok) counts.completed += 1;
    else if (outcome.kind === 'aborted') counts.aborted += 1;
    else counts.failed += 1;
  }
  return counts;
}

/** First start and last end of the successful requests; `null` = there is none. */
function spanOf(
  measured: readonly RequestRecord[],
  run: RunFacts,
): { startMs: number; endMs: number } | null {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const record of measured) {
    if (!record.outcome.ok) continue;
    first = Math.min(first, startMsOf(record) ?? first);
    last = Math.max(last, latencyEndMsOf(record, run.endpoint.latencyEnd) ?? last);
  }
  return first <= last ? { startMs: first, endMs: last } : null;
}

/** A run that was cut off ends with the last thing that its records saw. */
function durationOf(measured: readonly RequestRecord[], run: RunFacts): number | null {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { attempts } of measured) {
    first = Math.min(first, attempts[0]?.sendMs ?? first);
    last = Math.max(last, attempts.at(-1)?.endMs ?? last);
  }
  const durationMs = (run.endMs ?? last) - (run.startMs ?? first);
  return Number.isFinite(durationMs) ? Math.max(durationMs, 0) / 1000 : null;
}

function inFlightPeak(measured: readonly RequestRecord[]): number {
  const starts = new SampleColumn();
  const ends = new SampleColumn();
  for (const { attempts } of measured) {
    const first = attempts[0];
    const last = attempts.at(-1);
    if (!first || !last) continue;
    starts.push(first.sendMs);
    ends.push(last.endMs);
  }
  return peakOverlap(starts.values(), ends.values());
}

function coalesced(timesMs: Float64Array): number {
  let count = 0;
  for (let i = 1; i < timesMs.length; i += 1) if (timesMs[i] === timesMs[i - 1]) count += 1;
  return count;
}
