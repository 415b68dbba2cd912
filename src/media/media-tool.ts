import { runFfmpeg } from './ffmpeg.ts';
import { type ClipFacts, probeClip } from './probe-clip.ts';
import type { PcmFormat } from './wav-encode.ts';

/** What can be learnt of a sound or a video beyond its bytes. */
export type MediaTool = {
  /**
   * Length and kind, from the container alone; needs no other program.
   * @throws ClipProbeError
   */
  probe(bytes: Buffer): Promise<ClipFacts>;
  /**
   * The pictures that a player shows at these times (s), as JPEGs in the order asked for.
   * @throws FfmpegMissingError, or Error where a time lies behind the last picture
   */
  frames(path: string, timesS: readonly number[]): Promise<Buffer[]>;
  /**
   * The sound as 16-bit little-endian samples at any rate, as long as the sound itself.
   * @throws FfmpegMissingError, or Error where there is no sound
   */
  pcm(path: string, format: PcmFormat): Promise<Buffer>;
};

/** The best of the scale that FFmpeg's JPEG encoder has, but for its very largest files. */
const jpegQuality = '2';

async function frameAt(path: string, timeS: number): Promise<Buffer> {
  const purpose = `decoding the picture at ${timeS} s of ${path}`;
  const args = [
    ...['-v', 'error', '-ss', String(timeS), '-i', path, '-frames:v', '1', '-an'],
    ...['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', jpegQuality, '-threads', '1', 'pipe:1'],
  ];
  const jpeg = await runFfmpeg(purpose, { args });
  if (jpeg.length === 0) throw new Error(`${purpose}: there is none so late`);
  return jpeg;
}

async function frames(path: string, timesS: readonly number[]): Promise<Buffer[]> {
  const pictures: Buffer[] = [];
  for (const timeS of timesS) pictures.push(await frameAt(path, timeS));
  return pictures;
}

async function pcm(path: string, { sampleRateHz, channels }: PcmFormat): Promise<Buffer> {
  const args = [
    ...['-v', 'error', '-i', path, '-vn', '-ac', String(channels), '-ar', String(sampleRateHz)],
    ...['-f', 's16le', '-c:a', 'pcm_s16le', 'pipe:1'],
  ];
  return await runFfmpeg(`decoding the sound of ${path}`, { args });
}

/**
 * Reads sounds and videos: containers by itself, what is in them with the system's FFmpeg. Making them is next door:
 * `draw-…` for pictures to look at, `noise-…` for those that do not compress, `encode-…` for sound.
 */
export const mediaTool: MediaTool = { probe: probeClip, frames, pcm };
