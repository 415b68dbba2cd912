import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import { splitSentences } from '../../accuracy/duplex-eval/sentences.ts';
import { prepareOutputFolder, writeJsonFile } from '../../accuracy/write-json-file.ts';
import { realtimeUrl } from '../../endpoints/duplex/realtime-url.ts';
import { realClock } from '../../endpoints/duplex/session-clock.ts';
import { SessionFault } from '../../endpoints/duplex/session-fault.ts';
import { sessionMetrics } from '../../endpoints/duplex/session-metrics.ts';
import { InputFileError, messageOf, OmnimeterError } from '../../foundation/errors.ts';
import { StopSwitch } from '../../foundation/stop-switch.ts';
import { FfmpegMissingError } from '../../media/ffmpeg.ts';
import { mediaTool } from '../../media/media-tool.ts';
import { readVoice } from '../../media/read-voice.ts';
import { duplexRequestMetricsJson, duplexSessionMetricsJson } from '../../records/duplex-session-json.ts';
import { createTransport } from '../../transport/select-transport.ts';
import type { Transport } from '../../transport/transport.ts';
import type { CommandIo } from '../serve/options.ts';
import { metaPath, metricsFile, readJson, samplePath } from './eval-files.ts';
import { asInputError, evalFrames, failsOneSample } from './eval-frames.ts';
import { type EvalResponse, EvalSession, unitMs } from './eval-session.ts';
import { inParallel } from './in-parallel.ts';

/** What `omni-duplex-eval generate` was asked to do. */
export type GenerateOptions = {
  readonly samples: readonly EvalSample[];
  readonly url: string;
  readonly model: string;
  /** WAV file of the voice to answer with. */
  readonly refAudio: string;
  readonly responseRoot: string;
  readonly fps: number;
  readonly isRealtime: boolean;
  readonly concurrency: number;
  readonly overwrite: boolean;
  readonly headers: readonly (readonly [string, string])[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

const boxPx = 640;
const instructions = 'Streaming Omni Conversation.';
const idleTimeoutS = 900;

type Metrics = Record<'duplex_request_metrics' | 'duplex_session_metrics', Record<string, unknown>[]>;

/**
 * Plays every sample to the model and writes what it said.
 * @returns exit code 1 where a sample failed
 * @throws UsageError where nothing can be written to the response root; nothing was played then
 */
export async function generate(options: GenerateOptions, io: CommandIo): Promise<number> {
  const voice = await readVoice(options.refAudio, '--ref-audio');
  prepareOutputFolder(options.responseRoot, '--response-root');
  const open = options.samples.filter(
    (sample) => options.overwrite || !existsSync(samplePath(options.responseRoot, sample)),
  );
  const transport = createTransport('socket', {
    newConnectionPerRequest: false,
    insecure: false,
    maxConnections: null,
    connectTimeoutMs: 20_000,
    env: options.env,
  });
  const stop = new StopSwitch();
  io.onInterrupt(() => stop.stop());
  const metrics = readMetrics(options.responseRoot);
  let written = 0;
  let failed = 0;
  try {
    await inParallel(open, options.concurrency, async (sample) => {
      if (stop.stopped) return;
      try {
        await generateOne(sample, { options, voice, transport, stop, metrics });
        written += 1;
        io.stderr(`${sample.split}/${sample.id}: written`);
      } catch (error) {
        // Without the program no sample can be played.
        if (error instanceof FfmpegMissingError || !failsOneSample(error)) throw error;
        failed += 1;
        io.stderr(`${sample.split}/${sample.id}: failed: ${messageOf(error)}`);
      }
    });
  } finally {
    transport.close();
  }
  const kept = options.samples.length - open.length;
  io.stdout(`Responses: ${written} written, ${kept} kept, ${failed} failed`);
  if (stop.stopped) return 130;
  return failed > 0 ? 1 : 0;
}

type Around = {
  readonly options: GenerateOptions;
  readonly voice: Buffer;
  readonly transport: Transport;
  readonly stop: StopSwitch;
  readonly metrics: Metrics;
};

async function generateOne(
  sample: EvalSample,
  { options, voice, transport, stop, metrics }: Around,
): Promise<void> {
  const durationS = sample.durationS ?? (await mediaTool.probe(readInput(sample.videoPath))).durationS;
  const seconds = Math.max(1, Math.ceil(durationS));
  if (sample.questionAudioPath === null)
    throw new InputFileError('the manifest names no question_audio, and --mix question plays the question.');
  const { questionAudioPath } = sample;
  const question = await asInputError(() =>
    mediaTool.pcm(questionAudioPath, { sampleRateHz: 16_000, channels: 1 }),
  );
  if (question.length === 0)
    throw new InputFileError(
      `${questionAudioPath}: the question has no sound, so that nothing would be asked.`,
    );
  const frames = await evalFrames({
    path: sample.videoPath,
    fps: options.fps,
    window: null,
    boxPx,
    most: Math.ceil(seconds * options.fps),
  });
  const session = new EvalSession(
    {
      url: realtimeUrl(options.url, { duplex: '1', model: options.model }, { autostart: '0' }),
      headers: options.headers,
      session: sessionObject(options.model, voice),
      question,
      frames,
      fps: options.fps,
      seconds,
      isRealtime: options.isRealtime,
    },
    { clock: realClock, stop, transport },
  );
  let response: EvalResponse;
  try {
    response = await session.run();
  } catch (error) {
    if (error instanceof SessionFault) throw new SessionFailedError(error.message, { cause: error });
    throw error;
  }
  writeJsonFile(metaPath(options.responseRoot, sample), metaOf(sample, response, { options, voice }));
  addMetrics(metrics, sample, response);
  writeJsonFile(join(options.responseRoot, metricsFile), metrics);
  // Last: it says that the sample is done.
  writeJsonFile(samplePath(options.responseRoot, sample), splitSentences(response.deltas));
}

/** A session that broke, as the user is told. */
class SessionFailedError extends OmnimeterError {
  override readonly code = 'SESSION_FAILED';
}

function sessionObject(model: string, voice: Buffer): Readonly<Record<string, unknown>> {
  return {
    model,
    modalities: ['audio', 'text'],
    input_audio_format: 'pcm16',
    output_audio_format: 'pcm16',
    sample_rate_hz: 16_000,
    audio: { input: { sample_rate_hz: 16_000 }, output: { sample_rate_hz: 24_000 } },
    turn_detection: null,
    instructions,
    ref_audio: `data:audio/wav;base64,${voice.toString('base64')}`,
    overlap_policy: 'listen_only',
    playback_commit_policy: 'ack_only',
    idle_timeout_s: idleTimeoutS,
    extra_body: { auto_response: true, force_listen_count: 0 },
  };
}

function metaOf(
  { id, split }: EvalSample,
  response: EvalResponse,
  { options, voice }: { options: GenerateOptions; voice: Buffer },
): unknown {
  return {
    id,
    split,
    // Times of text that was not spoken in real time mean nothing.
    clock: options.isRealtime ? 'media' : 'invalid',
    pace: options.isRealtime ? 'realtime' : 'as-fast-as-possible',
    mix: 'question',
    fps: options.fps,
    unit_ms: unitMs,
    model: options.model,
    response_done: response.responseDone,
    drain_timeout: response.drainTimeout,
    close_timeout: response.closeTimeout,
    ref_audio_sha256: createHash('sha256').update(voice).digest('hex'),
    warnings: response.warnings,
  };
}

function addMetrics(metrics: Metrics, { id, split }: EvalSample, { log, streamStartMs }: EvalResponse): void {
  const timings = log.createdTimings();
  const rows = timings.flatMap(({ id: responseId, timings: seen }, i) => seen.row(i, responseId) ?? []);
  const facts = {
    sessionId: `omni-duplex-eval:${split}:${id}`,
    requestRows: rows,
    metrics: sessionMetrics(
      rows,
      timings.map(({ timings: seen }) => seen),
      streamStartMs,
    ),
  };
  const isOther = (row: Record<string, unknown>): boolean => row.sample_id !== id || row.split !== split;
  const tagged = (row: Record<string, unknown>) => ({ sample_id: id, split, ...row });
  metrics.duplex_request_metrics = [
    ...metrics.duplex_request_metrics.filter(isOther),
    ...duplexRequestMetricsJson(facts).map(tagged),
  ];
  metrics.duplex_session_metrics = [
    ...metrics.duplex_session_metrics.filter(isOther),
    tagged(duplexSessionMetricsJson(facts)),
  ];
}

function readMetrics(root: string): Metrics {
  const stored = readJson(join(root, metricsFile));
  const rows = (name: keyof Metrics): Record<string, unknown>[] => {
    const list =
      typeof stored === 'object' && stored !== null
        ? Object.entries(stored).find(([key]) => key === name)?.[1]
        : null;
    return Array.isArray(list) ? list.filter((row) => typeof row === 'object' && row !== null) : [];
  };
  return {
    duplex_request_metrics: rows('duplex_request_metrics'),
    duplex_session_metrics: rows('duplex_session_metrics'),
  };
}

function readInput(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new InputFileError(`${path}: it cannot be read: ${messageOf(cause)}`, { cause });
  }
}
