import { drawImage } from '../media/draw-image.ts';
import { probeClip } from '../media/probe-clip.ts';
import { probeImage } from '../media/probe-image.ts';
import { encodeWav } from '../media/wav-encode.ts';
import type { PipelineDefinition } from './pipeline/pipeline-definition.ts';

const mostPixels = 1e6;

/**
 * Loads the libraries that a model's media need, which takes some 100 ms each: the first request would else be
 * slower than the others.
 */
export async function warmMedia({ capabilities, mediaPartTokens }: PipelineDefinition): Promise<void> {
  const takesMedia =
    mediaPartTokens !== null || capabilities.some((name) => name === 'edits' || name === 'videos');
  const draws = capabilities.some((name) => name === 'images' || name === 'edits');
  if (!takesMedia && !draws) return;
  const image = await drawImage({ widthPx: 16, heightPx: 16, seed: 0, format: 'png', quality: 100 });
  if (!takesMedia) return;
  await probeImage(image, mostPixels);
  await probeClip(encodeWav(Buffer.alloc(2), { sampleRateHz: 16000, channels: 1 }));
  await import('mediabunny');
}
