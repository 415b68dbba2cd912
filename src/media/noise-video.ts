import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../foundation/random.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { builtInNoiseVideo, type NoiseVideo } from './h264-noise.ts';
import type { NoiseSource } from './noise-source.ts';

/** What makes a video: the system's FFmpeg with x264, or this package. They give different bytes. */
export type VideoEncoder = 'ffmpeg' | 'built-in';

const channels = 3;

function* framesOf(
  { widthPx, heightPx, numFrames }: NoiseVideo,
  random: Random,
  noise: NoiseSource,
): Generator<Buffer> {
  for (let index = 0; index < numFrames; index += 1)
    // A copy: the pipe still holds the last frame when the next one is made.
    yield Buffer.from(noise.bytes(widthPx * heightPx * channels, random));
}

/**
 * The settings of the reference. One thread, because x264's bytes depend on their number, and nothing in the file
 * that says when or by which build it was made.
 */
function x264Args({ widthPx, heightPx, fps }: NoiseVideo, path: string): string[] {
  return [
    ...['-v', 'error', '-y', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${widthPx}x${heightPx}`],
    ...['-r', String(fps), '-i', 'pipe:0', '-an', '-c:v', 'libx264', '-preset', 'medium', '-crf', '23'],
    ...['-pix_fmt', 'yuv420p', '-threads', '1', '-movflags', '+faststart'],
    ...['-fflags', '+bitexact', '-flags:v', '+bitexact', '-map_metadata', '-1', path],
  ];
}

async function x264Video(video: NoiseVideo, random: Random, noise: NoiseSource): Promise<Buffer> {
  // A file, because the index is moved to the front at the end.
  const folder = await mkdtemp(join(tmpdir(), 'omnimeter-video-'));
  try {
    const path = join(folder, 'noise.mp4');
    const input = framesOf(video, random, noise);
    await runFfmpeg('encoding a video of noise', { args: x264Args(video, path), input });
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * An MP4 (H.264, 4:2:0) of random pictures. Equal random numbers give equal bytes with the same encoder.
 * @param noise in use until the video is made
 * @throws RangeError for sides that 4:2:0 cannot have
 */
export async function noiseVideo(
  video: NoiseVideo,
  encoder: VideoEncoder,
  random: Random,
  noise: NoiseSource,
): Promise<Buffer> {
  const { widthPx, heightPx } = video;
  if (widthPx % 2 !== 0 || heightPx % 2 !== 0)
    throw new RangeError(`A video of ${widthPx}x${heightPx} px: 4:2:0 pictures have even sides`);
  return encoder === 'ffmpeg'
    ? await x264Video(video, random, noise)
    : builtInNoiseVideo(video, random, noise);
}
