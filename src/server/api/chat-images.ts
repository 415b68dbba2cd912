import { imageMimeTypes } from '../../media/draw-image.ts';
import type { ImagesArtifact } from '../engine/stage-artifact.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import { ImageFiles } from './image-files.ts';

/** Images of a chat are PNG. */
export function chatImageFiles(): ImageFiles {
  return new ImageFiles({ format: 'png', quality: 100 });
}

/** An image as the content of a chat's message carries it. */
export type ImageContentPart = {
  readonly type: 'image_url';
  readonly image_url: { readonly url: string };
  readonly stage_durations: Readonly<Record<string, number>>;
  readonly peak_memory_mb: number;
};

/** The images of a run as content. */
export async function imageContent(
  files: ImageFiles,
  artifact: ImagesArtifact,
  run: PipelineRun,
): Promise<ImageContentPart[]> {
  const bytes = await files.files(artifact);
  return bytes.map((file, index) => ({
    type: 'image_url',
    image_url: {
      url: `data:${artifact.images[index]?.encoded?.mimeType ?? imageMimeTypes.png};base64,${file.toString('base64')}`,
    },
    stage_durations: run.stageDurations(),
    peak_memory_mb: run.peakMemoryMb() ?? 0,
  }));
}
