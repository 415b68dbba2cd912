import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaCommandError, runMediaCommand } from './media-command.ts';

/** A container may name other files and addresses to go on with; only the video itself is read. */
const localOnly = ['-protocol_whitelist', 'file'];

/** What a listener hears and sees of a video: sound in whole seconds, and a picture for each of them. */
export type ConversationMedia = {
  /** Mono 16-bit little-endian, as many whole seconds as the video lasts, rounded up. */
  readonly pcm: Buffer;
  /** JPEG files; `null` = the video has none for that second. */
  readonly frames: readonly (Buffer | null)[];
};

export type ConversationFormat = {
  readonly sampleRateHz: number;
  /** Pictures fit into a square of this side, px. */
  readonly boxPx: number;
  /** Limit of each program that is run, s. */
  readonly timeoutS: number;
};

/**
 * Length of a video as its container states it, s.
 * @throws MediaCommandError where there is no ffprobe, or no usable length
 */
export async function videoDurationS(
  path: string,
  { timeoutS, maxS }: { readonly timeoutS: number; readonly maxS: number },
): Promise<number> {
  const args = [
    ...localOnly,
    '-v',
    'error',
    '-show_entries',
    'format=duration',
    '-of',
    'default=noprint_wrappers=1:nokey=1',
    path,
  ];
  const said = await runMediaCommand({
    command: 'ffprobe',
    subject: path,
    args,
    timeoutS,
    maxOutputBytes: 4096,
  });
  const value = said.toString().trim();
  const durationS = value === '' ? Number.NaN : Number(value);
  if (Number.isFinite(durationS) && durationS > 0 && durationS <= maxS) return durationS;
  throw new MediaCommandError(
    `Invalid video duration for ${path}: ${value || 'none'}. Expected more than 0 s and at most ${maxS} s.`,
  );
}

/**
 * Decodes a video for a conversation in real time.
 * @param durationS as {@link videoDurationS} gave it
 * @throws MediaCommandError where there is no ffmpeg, it fails, or there is no picture at all
 */
export async function conversationMedia(
  path: string,
  durationS: number,
  format: ConversationFormat,
): Promise<ConversationMedia> {
  const seconds = Math.ceil(durationS);
  const bytes = seconds * format.sampleRateHz * 2;
  const pcm = await orWhatLacks(path, format, () => soundOf(path, { durationS, bytes }, format));
  return { pcm, frames: await orWhatLacks(path, format, () => framesOf(path, seconds, format)) };
}

/** FFmpeg says of a video without sound, or pictures, only that nothing would be written. */
async function orWhatLacks<T>(
  path: string,
  { timeoutS }: ConversationFormat,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof MediaCommandError)) throw cause;
    const kinds = await streamKinds(path, timeoutS);
    const lacks = [
      kinds?.includes('audio') === false && 'sound',
      kinds?.includes('video') === false && 'pictures',
    ];
    const what = lacks.filter((kind) => kind !== false).join(' and no ');
    if (what === '') throw cause;
    throw new MediaCommandError(`${path} has no ${what}. Expected a video with both.`, {
      cause,
    });
  }
}

/** Of which kinds its streams are, or `null` where that can't be learnt either. */
async function streamKinds(path: string, timeoutS: number): Promise<readonly string[] | null> {
  const shown = ['-show_entries', 'stream=codec_type', '-of', 'default=noprint_wrappers=1:nokey=1'];
  const args = [...localOnly, '-v', 'error', ...shown, path];
  try {
    const said = await runMediaCommand({
      command: 'ffprobe',
      subject: path,
      args,
      timeoutS,
      maxOutputBytes: 65_536,
    });
    return said.toString().split(/\s+/);
  } catch (error) {
    if (error instanceof MediaCommandError) return null;
    throw error;
  }
}

async function soundOf(
  path: string,
  { durationS, bytes }: { durationS: number; bytes: number },
  { sampleRateHz, timeoutS }: ConversationFormat,
): Promise<Buffer> {
  const args = [
    ...['-nostdin', '-loglevel', 'error', ...localOnly, '-i', path, '-t', String(durationS), '-vn'],
    ...['-f', 's16le', '-ac', '1', '-ar', String(sampleRateHz), '-fs', String(bytes), 'pipe:1'],
  ];
  const sound = await runMediaCommand({
    command: 'ffmpeg',
    subject: path,
    args,
    timeoutS,
    maxOutputBytes: bytes + 1_048_576,
  });
  const whole = Buffer.alloc(bytes);
  sound.copy(whole, 0, 0, Math.min(sound.length, bytes));
  return whole;
}

/** The first picture of every second's second half. */
async function framesOf(
  path: string,
  count: number,
  { boxPx, timeoutS }: ConversationFormat,
): Promise<(Buffer | null)[]> {
  const folder = await mkdtemp(join(tmpdir(), 'omnimeter-frames-'));
  try {
    const filter = `select=gte(t\\,(selected_n+0.5)/1.0),scale=${boxPx}:${boxPx}:force_original_aspect_ratio=decrease`;
    const args = (variableRate: readonly string[]): string[] => [
      ...[
        '-nostdin',
        '-loglevel',
        'error',
        ...localOnly,
        '-i',
        path,
        '-vf',
        filter,
        '-an',
        '-frames:v',
        String(count),
      ],
      ...[...variableRate, '-q:v', '5', join(folder, '%06d.jpg')],
    ];
    const run = (variableRate: readonly string[]) =>
      runMediaCommand({
        command: 'ffmpeg',
        subject: path,
        args: args(variableRate),
        timeoutS,
        maxOutputBytes: 1_048_576,
      });
    try {
      await run(['-vsync', 'vfr']);
    } catch (error) {
      // Its name before FFmpeg 5.1; builds that have dropped it know the later one.
      if (!(error instanceof MediaCommandError) || !/vsync/.test(error.message)) throw error;
      await run(['-fps_mode', 'vfr']);
    }
    const names = (await readdir(folder)).sort();
    const files = await Promise.all(names.slice(0, count).map((name) => readFile(join(folder, name))));
    if (files.length === 0) throw new MediaCommandError(`No video frames were decoded from ${path}`);
    return Array.from({ length: count }, (_, second) => files[second] ?? null);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
