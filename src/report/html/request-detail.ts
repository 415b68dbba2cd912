import { criticalPathOf } from '../../metrics/critical-path.ts';
import { outputTokensOf } from '../../metrics/output-tokens.ts';
import { type Playback, playbackOf } from '../../metrics/playback.ts';
import { requestSpansOf } from '../../metrics/request-spans.ts';
import { visitShared } from '../../metrics/token-arrivals.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import { compact, compactAll, compactOrNull, excerpt, fact, spreadIndices } from './compact.ts';
import type { Fact, RequestDetail } from './report-model.ts';

const tokenPoints = 80;
const bufferPoints = 120;
const listedUnderruns = 40;
const textLength = 280;
const messageLength = 600;
const bodyLength = 1500;

/** One request from close up. */
export function requestDetailOf(record: RequestRecord, run: RunFacts): RequestDetail {
  const originMs = record.intendedMs ?? record.attempts[0]?.sendMs ?? 0;
  const after = (timeMs: number): number => compact(timeMs - originMs);
  const response = record.responses[0];
  const exchange = record.attempts.at(-1)?.exchanges.at(-1);
  return {
    requestId: record.requestId?.slice(0, 200) ?? null,
    responseId: response?.id?.slice(0, 200) ?? null,
    finishReason: response?.finishReason?.slice(0, 200) ?? null,
    attempts: record.attempts.length,
    status: exchange?.status ?? null,
    spans: requestSpansOf(record).map(({ startMs, endMs, firstMs, name, note, kind }) => ({
      kind,
      name: name.slice(0, 80),
      note: note?.slice(0, 200) ?? null,
      startMs: after(startMs),
      endMs: after(endMs),
      firstMs: firstMs === null ? null : after(firstMs),
    })),
    path: pathOf(record, run),
    tokens: tokensOf(record, run, after),
    playback: playbackModel(playbackOf(record.events, record.audio?.sampleRateHz ?? null), after),
    media: mediaFacts(record),
    text: excerpt(record.text, textLength),
    failure: failureOf(record),
  };
}

function pathOf(record: RequestRecord, run: RunFacts): RequestDetail['path'] {
  const path = criticalPathOf(record, run);
  if (!path) return null;
  return {
    goal: path.goal,
    steps: path.steps.map((step) => ({ ...step, name: step.name.slice(0, 80), ms: compact(step.ms) })),
  };
}

function tokensOf(
  record: RequestRecord,
  run: RunFacts,
  after: (timeMs: number) => number,
): RequestDetail['tokens'] {
  const timesMs: number[] = [];
  const counts: number[] = [];
  let sum = 0;
  visitShared(record.events, record.outcome.ok ? outputTokensOf(record, run) : 0, (timeMs, tokens) => {
    sum += tokens;
    timesMs.push(timeMs);
    counts.push(sum);
  });
  if (timesMs.length < 2) return null;
  const kept = spreadIndices(timesMs.length, tokenPoints);
  return { timesMs: kept.map((i) => after(timesMs[i] ?? 0)), counts: kept.map((i) => counts[i] ?? 0) };
}

function playbackModel(
  playback: Playback | null,
  after: (timeMs: number) => number,
): RequestDetail['playback'] {
  if (!playback) return null;
  const kept = cornersOf(playback.bufferS);
  const longest = [...playback.underruns]
    .sort((a, b) => b.lengthMs - a.lengthMs)
    .slice(0, listedUnderruns)
    .sort((a, b) => a.startMs - b.startMs);
  return {
    timesMs: kept.map((i) => after(playback.timesMs[i] ?? 0)),
    bufferS: compactAll(kept.map((i) => playback.bufferS[i] ?? 0)),
    underruns: longest.map(({ startMs, lengthMs }) => ({
      startMs: after(startMs),
      lengthMs: compact(lengthMs),
    })),
    waitedMs: compact(playback.underruns.reduce((sum, { lengthMs }) => sum + lengthMs, 0)),
    underrunCount: playback.underruns.length,
  };
}

/** Few enough corners of a saw: of each stretch the lowest and the highest, so that no low is lost. */
function cornersOf(bufferS: Float64Array): number[] {
  if (bufferS.length <= bufferPoints) return Array.from(bufferS, (_, i) => i);
  const stretches = bufferPoints / 2;
  const kept = new Set<number>([0, bufferS.length - 1]);
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const from = Math.floor((stretch * bufferS.length) / stretches);
    const to = Math.floor(((stretch + 1) * bufferS.length) / stretches);
    let low = from;
    let high = from;
    for (let i = from; i < to; i += 1) {
      if ((bufferS[i] ?? 0) < (bufferS[low] ?? 0)) low = i;
      if ((bufferS[i] ?? 0) > (bufferS[high] ?? 0)) high = i;
    }
    kept.add(low).add(high);
  }
  return [...kept].sort((a, b) => a - b);
}

function mediaFacts({ audio, image, video }: RequestRecord): Fact[] {
  return [
    ...(audio
      ? [
          ...fact('Audio format', audio.format),
          ...fact('Audio length', audio.durationS, { unit: 's' }),
          ...fact('Sample rate', audio.sampleRateHz, { unit: 'Hz' }),
          ...fact('Audio bytes', audio.bytes, { unit: 'bytes' }),
          ...fact('Audio', audio.note),
        ]
      : []),
    ...(image
      ? [
          ...fact('Images', image.count),
          ...fact('Pixels', image.pixels, { unit: 'px' }),
          ...fact('Image generation', image.generationMs, { unit: 'ms' }),
          ...fact('Denoising step', image.denoiseStepMs, { unit: 'ms' }),
        ]
      : []),
    ...(video
      ? [
          ...fact('Video length', video.durationS, { unit: 's' }),
          ...fact('Video frames', compactOrNull(video.frames)),
          ...fact('Video generation', video.generationMs, { unit: 'ms' }),
        ]
      : []),
  ];
}

function failureOf({ outcome }: RequestRecord): RequestDetail['failure'] {
  if (outcome.ok) return null;
  return {
    kind: outcome.kind,
    message: excerpt(outcome.message, messageLength),
    body: outcome.body === null ? null : excerpt(outcome.body, bodyLength),
  };
}
