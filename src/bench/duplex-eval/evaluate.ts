import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { JudgeMedia } from '../../accuracy/duplex-eval/eval-judges.ts';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import { type EvalMedia, scoreDescription, scoreReminders } from '../../accuracy/duplex-eval/score-sample.ts';
import type { ScoredSample } from '../../accuracy/duplex-eval/summarize-scores.ts';
import { JudgeClient } from '../../accuracy/judge/judge-client.ts';
import { writeJsonFile } from '../../accuracy/write-json-file.ts';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { FfmpegMissingError } from '../../media/ffmpeg.ts';
import { mediaTool } from '../../media/media-tool.ts';
import type { CommandIo } from '../serve/options.ts';
import { metaPath, readJson, readSentences, samplePath } from './eval-files.ts';
import { evalFrames, failsOneSample } from './eval-frames.ts';
import { inParallel } from './in-parallel.ts';

/** What `omni-duplex-eval evaluate` was asked to do. */
export type EvaluateOptions = {
  readonly samples: readonly EvalSample[];
  readonly responseRoot: string;
  readonly scoreRoot: string;
  readonly judge: { readonly baseUrl: string; readonly model: string; readonly apiKey: string };
  /** How the judge gets a whole video: as such, or as pictures. */
  readonly videoMode: 'video_url' | 'frame-sample';
  readonly judgeFps: number;
  /** Time allowed after a reminder is due, s. */
  readonly windowS: number;
  readonly allowInvalidClock: boolean;
  readonly workers: number;
  readonly overwrite: boolean;
};

const judgeLimits = { timeoutS: 600, maxTokens: 1200, temperature: 0.1 };
/** Pictures of a whole video, and the time between them, s. */
const wholeFrames = { most: 16, everyS: 3 };
const mostWindowFrames = 64;
const boxPx = 640;

/**
 * Judges the responses of the samples and writes a score for each.
 * @returns exit code 1 where a sample could not be judged
 */
export async function evaluate(options: EvaluateOptions, io: CommandIo): Promise<number> {
  const client = new JudgeClient({ ...options.judge, ...judgeLimits }, null, (line) =>
    io.stderr(`note: ${line}`),
  );
  const open = options.samples.filter(
    (sample) => options.overwrite || !existsSync(samplePath(options.scoreRoot, sample)),
  );
  let failed = 0;
  try {
    await inParallel(open, options.workers, async (sample) => {
      try {
        const scored = await scoreOne(client, sample, options);
        writeJsonFile(samplePath(options.scoreRoot, sample), scored);
        io.stderr(`${sample.split}/${sample.id}: judged`);
      } catch (error) {
        if (error instanceof FfmpegMissingError || !failsOneSample(error)) throw error;
        failed += 1;
        io.stderr(`${sample.split}/${sample.id}: failed: ${messageOf(error)}`);
      }
    });
  } finally {
    await client.close();
  }
  const { requests, retries, unreadableAnswers } = client.calls;
  io.stdout(
    `Scores: ${open.length - failed} written, ${options.samples.length - open.length} kept, ${failed} failed`,
  );
  io.stdout(
    `Judge: ${requests} requests, ${retries} repeated, ${unreadableAnswers} answers without a verdict`,
  );
  return failed > 0 ? 1 : 0;
}

async function scoreOne(
  client: JudgeClient,
  sample: EvalSample,
  options: EvaluateOptions,
): Promise<ScoredSample> {
  const said = readSentences(samplePath(options.responseRoot, sample));
  if (!options.allowInvalidClock && hasInvalidClock(options.responseRoot, sample))
    throw new InputFileError('generate artifact has clock=invalid; pass --allow-invalid-clock to score it');
  const { id, split, family, taskType: task_type } = sample;
  const base = { id, split, family, task_type };
  if (family === 'pr')
    return { ...base, rtd: null, pr: await scoreReminders(client, sample, said, options.windowS) };
  return {
    ...base,
    pr: null,
    rtd: await scoreDescription(client, sample, said, await mediaOf(sample, options)),
  };
}

/** A response of unknown origin has no clock that is known to be right, and none that is known to be wrong. */
function hasInvalidClock(root: string, sample: EvalSample): boolean {
  const meta = readJson(metaPath(root, sample));
  return typeof meta === 'object' && meta !== null && 'clock' in meta && meta.clock === 'invalid';
}

async function mediaOf(
  { videoPath, durationS: stated }: EvalSample,
  options: EvaluateOptions,
): Promise<EvalMedia> {
  const durationS = stated ?? (await mediaTool.probe(readVideo(videoPath))).durationS;
  const frames = (fps: number, window: readonly [number, number] | null, most: number): Promise<Buffer[]> =>
    evalFrames({ path: videoPath, fps, window, boxPx, most });
  const whole = async (): Promise<JudgeMedia> =>
    options.videoMode === 'video_url'
      ? { videoUrl: videoUrl(videoPath) }
      : { frames: await frames(1 / wholeFrames.everyS, null, wholeFrames.most) };
  return { durationS, frames: (window) => frames(options.judgeFps, window, mostWindowFrames), whole };
}

const mimeTypes: Readonly<Record<string, string>> = { '.webm': 'video/webm', '.mov': 'video/quicktime' };

/** The video itself in the request: the judge may be on another machine. */
function videoUrl(path: string): string {
  const mime = mimeTypes[extname(path).toLowerCase()] ?? 'video/mp4';
  return `data:${mime};base64,${readVideo(path).toString('base64')}`;
}

function readVideo(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new InputFileError(`${path}: the video cannot be read: ${messageOf(cause)}`, { cause });
  }
}
