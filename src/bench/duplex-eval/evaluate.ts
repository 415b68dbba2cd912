import { existsSync, readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { JudgeMedia } from '../../accuracy/duplex-eval/eval-judges.ts';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import { type EvalMedia, scoreDescription, scoreReminders } from '../../accuracy/duplex-eval/score-sample.ts';
import type { ScoredSample } from '../../accuracy/duplex-eval/summarize-scores.ts';
import { JudgeClient } from '../../accuracy/judge/judge-client.ts';
import { prepareOutputFolder, writeJsonFile } from '../../accuracy/write-json-file.ts';
import { InputFileError, messageOf, UsageError } from '../../foundation/errors.ts';
import { FfmpegMissingError } from '../../media/ffmpeg.ts';
import { mediaTool } from '../../media/media-tool.ts';
import type { CommandIo } from '../serve/options.ts';
import { metaPath, readJson, readSentences, readUnscored, samplePath, writeUnscored } from './eval-files.ts';
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
 * Judges the responses of the samples and writes a score for each. Those that are still to be judged, or could not be,
 * are listed beside the scores; such a sample is judged again, and a score of an earlier time does not count for it.
 * @returns exit code 1 where a sample could not be judged
 * @throws UsageError where nothing can be written to the score root; no judge was asked then
 */
export async function evaluate(options: EvaluateOptions, io: CommandIo): Promise<number> {
  const { scoreRoot } = options;
  const { open, unscored } = openSamples(options);
  const client = new JudgeClient({ ...options.judge, ...judgeLimits }, null, (line) =>
    io.stderr(`note: ${line}`),
  );
  let failed = 0;
  try {
    await inParallel(open, options.workers, async (sample) => {
      try {
        const scored = await scoreOne(client, sample, options);
        writeJsonFile(samplePath(scoreRoot, sample), scored);
        unscored.remove(sample);
        io.stderr(`${sample.split}/${sample.id}: judged`);
      } catch (error) {
        if (error instanceof FfmpegMissingError || !failsOneSample(error)) throw error;
        failed += 1;
        unscored.add(sample, messageOf(error));
        io.stderr(`${sample.split}/${sample.id}: failed: ${messageOf(error)}`);
      }
      writeUnscored(scoreRoot, unscored);
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

/** The samples that are to be judged now, which are listed as not judged until they are. */
function openSamples({ samples, scoreRoot, responseRoot, overwrite }: EvaluateOptions) {
  if (resolve(scoreRoot) === resolve(responseRoot))
    throw new UsageError(
      `--score-root and --response-root are both ${scoreRoot}: a score would take the place of its response. Name another folder.`,
    );
  prepareOutputFolder(scoreRoot, '--score-root');
  const unscored = readUnscored(scoreRoot);
  const open = samples.filter(
    (sample) => overwrite || unscored.has(sample) || !existsSync(samplePath(scoreRoot, sample)),
  );
  for (const sample of open) unscored.add(sample, null);
  writeUnscored(scoreRoot, unscored);
  return { open, unscored };
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
