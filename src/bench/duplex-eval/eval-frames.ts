import { InputFileError, messageOf, OmnimeterError } from '../../foundation/errors.ts';
import { runFfmpeg } from '../../media/ffmpeg.ts';

/** Pictures of a video: how many a second, of which part, and how large. */
export type FrameRequest = {
  readonly path: string;
  readonly fps: number;
  /** `null` = all of it. */
  readonly window: readonly [startS: number, endS: number] | null;
  /** They fit into a square of this side, px. */
  readonly boxPx: number;
  readonly most: number;
};

/**
 * Decodes pictures at an even rate, as JPEG files.
 * @throws FfmpegMissingError, or InputFileError with FFmpeg's words
 */
export async function evalFrames({ path, fps, window, boxPx, most }: FrameRequest): Promise<Buffer[]> {
  const part = window === null ? [] : ['-ss', String(window[0]), '-t', String(window[1] - window[0])];
  const filter = `fps=${fps},scale=${boxPx}:${boxPx}:force_original_aspect_ratio=decrease`;
  const args = [
    ...['-v', 'error', ...part, '-i', path, '-an', '-vf', filter, '-frames:v', String(most)],
    ...['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', '5', 'pipe:1'],
  ];
  return splitJpegs(await asInputError(() => runFfmpeg(`decoding pictures of ${path}`, { args })));
}

const startMark = Buffer.from([0xff, 0xd8, 0xff]);

/** JPEG files that follow each other. Inside one its mark of a start cannot stand: its data escape it. */
export function splitJpegs(stream: Buffer): Buffer[] {
  const files: Buffer[] = [];
  for (let at = stream.indexOf(startMark); at >= 0; ) {
    const next = stream.indexOf(startMark, at + startMark.length);
    files.push(stream.subarray(at, next < 0 ? stream.length : next));
    at = next;
  }
  return files;
}

/** What a decoder cannot read is wrong with its file; that there is no decoder is not. */
export async function asInputError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof OmnimeterError) throw cause;
    throw new InputFileError(messageOf(cause), { cause });
  }
}

/** One sample's own misfortune; anything else is a bug, or concerns all of them. */
export function failsOneSample(error: unknown): boolean {
  return error instanceof OmnimeterError || (error instanceof Error && 'syscall' in error);
}
