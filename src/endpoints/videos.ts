import { UsageError } from '../foundation/errors.ts';
import { sniffMime } from '../media/sniff-mime.ts';
import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { Attempt, Exchange, Outcome } from '../records/request-record.ts';
import type { Sample } from '../workloads/sample.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { failure, type ReplyReader, readReply } from './http-reply.ts';
import { asObject, asText, type JsonObject, positiveNumber } from './json-values.ts';
import { type FormPart, formText } from './multipart-body.ts';
import { observationOf } from './observation.ts';
import { droppedNote, pictureSize, sizeKeys, soundNote } from './picture-fields.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
import { extraFields, fieldPlace, formRequest, promptText } from './request-parts.ts';
import { requestedVideo, videoFactsOf } from './video-facts.ts';
import { type JobResult, jobRequest, runVideoJob } from './video-job.ts';
import { referenceKeys, referenceParts } from './video-reference.ts';

/** Fields of the API in the order in which they are sent; other fields of the extra body follow them. */
const formKeys = [
  'seconds',
  'num_frames',
  'fps',
  'num_inference_steps',
  'seed',
  'negative_prompt',
  'guidance_scale',
  'guidance_scale_2',
  'boundary_ratio',
  'flow_shift',
  'true_cfg_scale',
  'generate_sound',
  'sound_duration',
  'enable_frame_interpolation',
  'frame_interpolation_exp',
  'frame_interpolation_scale',
  'frame_interpolation_model_path',
  'lora',
  'extra_params',
] as const;
const builtKeys = ['model', 'prompt'] as const;
const reservedKeys = new Set<string>([
  ...formKeys,
  ...builtKeys,
  ...sizeKeys,
  ...referenceKeys,
  'poll_interval_s',
  'poll_timeout_s',
]);
const defaultIntervalS = 2;
const defaultTimeoutS = 21_600;

function prepare(sample: Sample, target: Target): PreparedRequest {
  const extra = extraFields(sample, target);
  const size = pictureSize(extra);
  const built = { model: target.model, prompt: promptText(sample, 'The videos API') };
  const field = (name: string): FormPart[] => {
    const value = extra[name];
    return value === undefined || value === null ? [] : [{ name, value: formText(value) }];
  };
  const parts: FormPart[] = [
    { name: 'model', value: built.model },
    { name: 'prompt', value: built.prompt },
    ...(size === null ? [] : [{ name: 'size', value: size }]),
    ...formKeys.flatMap(field),
    ...Object.keys(extra)
      .filter((key) => !reservedKeys.has(key))
      .flatMap(field),
    ...referenceParts(sample, extra),
  ];
  const dropped = [
    ...builtKeys.filter((key) => key in extra && extra[key] !== built[key]).map((key) => `other ${key}`),
    ...(size === null ? ['width', 'height'].filter((key) => key in extra) : []),
  ];
  return {
    ...formRequest(sample, target, parts, {
      intervalMs: secondsOf(sample, extra, 'poll_interval_s', defaultIntervalS) * 1000,
      timeoutMs: secondsOf(sample, extra, 'poll_timeout_s', defaultTimeoutS) * 1000,
      download: target.videoDownload === true,
      asked: requestedVideo(extra),
    }),
    notes: [...droppedNote('/v1/videos', dropped, sample), ...soundNote('/v1/videos', sample.media)],
  };
}

/**
 * A time of the polling as it was given, s.
 * @throws UsageError for one that is no time above 0: polling at another pace would measure something else
 */
function secondsOf(sample: Sample, extra: JsonObject, key: string, defaultS: number): number {
  const value = extra[key];
  if (value === undefined || value === null) return defaultS;
  const seconds = Array.isArray(value) ? null : positiveNumber(value);
  if (seconds === null)
    throw new UsageError(
      `${fieldPlace(sample, key)}: expected a number of seconds above 0, got ${JSON.stringify(value)}. Without it, it is ${defaultS}.`,
    );
  return seconds;
}

async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const { reading } = prepared;
  const result = await runVideoJob(prepared, context, {
    intervalMs: positiveNumber(reading.intervalMs) ?? defaultIntervalS * 1000,
    timeoutMs: positiveNumber(reading.timeoutMs) ?? defaultTimeoutS * 1000,
  });
  const events = new EventLogBuilder();
  if (result.doneMs !== null) events.append(result.doneMs, eventKinds.whole, null, 0, null, 0);
  const file = reading.download === true ? await download(prepared, context, result) : null;
  const facts = new ReplyFacts();
  if (result.job) facts.read(result.job);
  const exchanges = file ? [...result.exchanges, ...file.exchanges] : result.exchanges;
  const outcome = file?.outcome ?? result.outcome;
  return observationOf({
    attempts: [attemptOf(exchanges, outcome)],
    outcome,
    events,
    facts,
    text: '',
    outputTokens: null,
    outputTokensSource: null,
    video: outcome.ok && result.job ? videoFactsOf(result.job, requestedVideo(askedFields(reading))) : null,
  });
}

/** The figures of the request as `prepare` kept them, under their names on the wire. */
function askedFields(reading: JsonObject): JsonObject {
  const asked = asObject(reading.asked) ?? {};
  return { seconds: asked.seconds, num_frames: asked.frames, fps: asked.fps };
}

function attemptOf(exchanges: readonly Exchange[], outcome: Outcome): Attempt {
  const sendMs = exchanges[0]?.sendMs ?? 0;
  return {
    sendMs,
    endMs: exchanges.at(-1)?.endMs ?? sendMs,
    exchanges,
    error: outcome.ok ? null : outcome.message,
  };
}

/** Enough of a file to tell what it is, bytes. */
const sniffBytes = 64;

/** Counts the bytes of a file and looks at its first. */
class FileReader implements ReplyReader {
  #bytes = 0;
  #start = Buffer.alloc(0);
  #failure: ReturnType<ReplyReader['verdict']> = null;
  readonly raw = {
    begin: (contentType: string) => !contentType.startsWith('text/'),
    onBytes: (bytes: Buffer) => {
      this.#bytes += bytes.length;
      if (this.#start.length < sniffBytes)
        this.#start = Buffer.concat([this.#start, bytes.subarray(0, sniffBytes)]);
    },
  };

  onMessage(): void {
    this.#failure = failure('content_type', 'the reply is a stream of events, expected a video', {
      status: 200,
    });
  }

  onWhole(value: unknown): void {
    const error = streamedError(asObject(value) ?? {});
    this.#failure =
      error === null
        ? failure('content_type', 'the reply is JSON, expected a video', { status: 200 })
        : failure('stream_error', error, { status: 200 });
  }

  verdict(): ReturnType<ReplyReader['verdict']> {
    if (this.#failure) return this.#failure;
    if (this.#bytes === 0) return failure('empty', 'the file of the video is empty', { status: 200 });
    const mime = sniffMime(this.#start);
    if (mime?.startsWith('video/')) return null;
    return failure(
      'malformed',
      `the file of ${this.#bytes} bytes is ${mime ?? 'of no known kind'}, expected a video (MP4, WebM)`,
      { status: 200 },
    );
  }
}

/** Fetches the file of a finished job. Latency has ended before; a job without its file is a failure nevertheless. */
async function download(
  prepared: PreparedRequest,
  context: ObserveContext,
  { job, outcome }: JobResult,
): Promise<{ exchanges: readonly Exchange[]; outcome: Outcome } | null> {
  const id = asText(job?.id);
  if (!outcome.ok || id === null) return null;
  const reader = new FileReader();
  const reply = await readReply(jobRequest(prepared, id, '/content'), context, reader);
  const failed = reply.outcome;
  return {
    exchanges: reply.attempt.exchanges,
    outcome:
      failed.ok || failed.kind === 'aborted'
        ? failed
        : { ...failed, message: `Content retrieval failed: ${failed.message}` },
  };
}

/** Videos as jobs that are created and polled. Latency ends when the terminal status was read. */
export const videos: Endpoint = {
  name: '/v1/videos',
  doc: 'Videos as jobs: POST /v1/videos, a form, then polls until the job has ended. Needs no --backend: the path names it.',
  apiName: 'OpenAI Videos API',
  defaultPath: '/v1/videos',
  urlSuffixes: ['videos'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  traits: { name: '/v1/videos', itl: 'chunk_gap', latencyEnd: 'last_message', output: 'pictures' },
  prepare,
  observe,
};
