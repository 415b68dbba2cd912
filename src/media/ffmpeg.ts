import { spawn } from 'node:child_process';
import { OmnimeterError } from '../foundation/errors.ts';

/** The system's FFmpeg. It is never part of this package: builds with x264 are under the GPL. */
export type Ffmpeg = {
  /** Its first line about itself, which tells builds apart. */
  readonly version: string;
  /** Whether it can encode H.264 with x264. */
  readonly hasX264: boolean;
};

/** Something that takes FFmpeg, where there is none. */
export class FfmpegMissingError extends OmnimeterError {
  override readonly code: string = 'FFMPEG_MISSING';
}

/** How to get it, for messages. */
export const ffmpegInstallHint =
  'Install it so that `ffmpeg` is on the PATH (Debian, Ubuntu: apt-get install ffmpeg; Fedora: dnf install ' +
  'ffmpeg-free; macOS: brew install ffmpeg).';

/** @param purpose what cannot be done, e.g. `decoding the frames of clip.mp4` */
export function ffmpegMissing(purpose: string): FfmpegMissingError {
  return new FfmpegMissingError(`${purpose} takes FFmpeg, and there is none. ${ffmpegInstallHint}`);
}

/** Enough of what it says to see what went wrong. */
const mostErrorBytes = 4096;

export type FfmpegRun = {
  readonly args: readonly string[];
  /** Written to its standard input, piece by piece as it takes them. */
  readonly input?: Iterable<Uint8Array>;
};

/** Ends early where a process fails; a broken pipe then is its failure, not ours. */
async function feed(stdin: NodeJS.WritableStream, pieces: Iterable<Uint8Array>, ended: () => boolean) {
  for (const piece of pieces) {
    if (ended()) return;
    await new Promise<void>((resolve) => stdin.write(piece, () => resolve()));
  }
  stdin.end();
}

/**
 * Runs `ffmpeg`.
 * @returns what it wrote to its standard output
 * @throws FfmpegMissingError where there is none, Error with its own words where it fails
 */
export async function runFfmpeg(purpose: string, { args, input }: FfmpegRun): Promise<Buffer> {
  const child = spawn('ffmpeg', ['-nostdin', '-hide_banner', ...args], {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  let errors = '';
  let code: number | null = null;
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-mostErrorBytes);
  });
  const closed = new Promise<void>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? ffmpegMissing(purpose) : error);
    });
    child.on('close', (status) => {
      code = status ?? -1;
      resolve();
    });
  });
  const { stdin } = child;
  if (stdin !== null && input !== undefined) {
    stdin.on('error', () => undefined);
    await Promise.race([closed, feed(stdin, input, () => code !== null)]);
  }
  await closed;
  if (code === 0) return Buffer.concat(out);
  throw new Error(`${purpose}: ffmpeg ended with ${code}: ${errors.trim() || 'it said nothing'}`);
}

/** The system's FFmpeg, or `null` where there is none. */
export async function findFfmpeg(): Promise<Ffmpeg | null> {
  try {
    const version = (await runFfmpeg('asking for its version', { args: ['-version'] })).toString();
    const encoders = (await runFfmpeg('asking for its encoders', { args: ['-encoders'] })).toString();
    return { version: version.split('\n', 1)[0] ?? '', hasX264: /\blibx264\b/.test(encoders) };
  } catch (error) {
    if (error instanceof FfmpegMissingError) return null;
    throw error;
  }
}
