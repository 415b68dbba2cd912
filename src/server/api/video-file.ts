import { drawVideo } from '../../media/draw-video.ts';
import type { VideoArtifact } from '../engine/stage-artifact.ts';

/** The video's file: what an engine made, else drawn as it was described. */
export async function videoFile(video: VideoArtifact): Promise<Buffer> {
  if (video.encoded !== null) return video.encoded.bytes;
  const { widthPx, heightPx, numFrames, fps, seed, audio } = video;
  const format = audio === null ? null : { sampleRateHz: audio.sampleRateHz, channels: 1 };
  return drawVideo({
    widthPx,
    heightPx,
    numFrames,
    fps,
    seed,
    audio: audio === null || format === null ? null : { pcm: audio.pcm, format },
  });
}
