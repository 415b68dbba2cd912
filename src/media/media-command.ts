import { spawn } from 'node:child_process';
import { OmnimeterError } from '../foundation/errors.ts';
import { longestTimerMs } from '../foundation/longest-timer.ts';
import { ffmpegInstallHint } from './ffmpeg.ts';

/** A program for media that is missing, failed, or took too long. */
export class MediaCommandError extends OmnimeterError {
  override readonly code: string = 'MEDIA_COMMAND';
}

/** Enough of what a program says to see what went wrong, bytes. */
const mostErrorBytes = 4096;

export type MediaCommand = {
  readonly command: 'ffmpeg' | 'ffprobe';
  /** The file that it works on, for messages. */
  readonly subject?: string;
  readonly args: readonly string[];
  /** After this the program is ended by force, s. */
  readonly timeoutS: number;
  /** Of its output, at most so much is taken, bytes. */
  readonly maxOutputBytes: number;
};

/**
 * Runs a program for media within a time limit.
 * @returns what it wrote to its standard output
 * @throws MediaCommandError where there is no such program, it fails, runs out of time, or writes too much
 */
export async function runMediaCommand(run: MediaCommand): Promise<Buffer> {
  const { command, subject, timeoutS, maxOutputBytes } = run;
  const child = spawn(command, [...run.args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  let ended: 'timeout' | 'output' | null = null;
  const end = (why: NonNullable<typeof ended>): void => {
    ended ??= why;
    child.kill('SIGKILL');
    // What the program itself has started may hold them open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const timer = setTimeout(() => end('timeout'), Math.min(timeoutS * 1000, longestTimerMs));
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) end('output');
    else out.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-mostErrorBytes);
  });
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (ended === 'timeout')
      throw new MediaCommandError(`Media command timed out after ${timeoutS}s: ${spelled(run)}`);
    if (ended === 'output')
      throw new MediaCommandError(
        `${command} failed: more than ${maxOutputBytes} bytes came from ${spelled(run)}`,
      );
    if (status !== 0) {
      const words = errors.trim() || `it ended with ${status} and said nothing`;
      const names = subject === undefined || words.startsWith(subject);
      throw new MediaCommandError(`${command} failed: ${names ? words : `${subject}: ${words}`}`);
    }
    return Buffer.concat(out);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      throw new MediaCommandError(`Required media command is unavailable: ${command}. ${ffmpegInstallHint}`, {
        cause,
      });
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

function spelled({ command, args }: MediaCommand): string {
  return [command, ...args].join(' ');
}
