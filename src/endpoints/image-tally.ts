import type { ImageFacts, StageSnapshot } from '../records/request-record.ts';
import { asObject, asText, positiveNumber } from './json-values.ts';
import { generationMsOf } from './reply-facts.ts';

/** Counts the images of one reply: each part that carries one, whatever chunk it came in. */
export class ImageTally {
  count = 0;
  #generationMs: number | null = null;

  /** @returns bytes of image payload, or `null` when no part holds an image */
  add(parts: readonly unknown[]): number | null {
    let bytes: number | null = null;
    let timed = false;
    for (const value of parts) {
      const part = asObject(value);
      const image = part?.image_url;
      const url = asText(image) ?? asText(asObject(image)?.url);
      if (!part || !url) continue;
      this.count += 1;
      bytes = (bytes ?? 0) + payloadBytes(url);
      const generationMs = timed ? null : generationMsOf(part.stage_durations);
      if (generationMs !== null) {
        timed = true;
        this.#generationMs = (this.#generationMs ?? 0) + generationMs;
      }
    }
    return bytes;
  }

  /** The images seen, raised by what image stages report where that is more; `null` = no image at all. */
  facts(stages: Readonly<Record<string, StageSnapshot>>): ImageFacts | null {
    const reported = imageStages(stages);
    const count = Math.max(this.count, reported.count);
    if (count === 0) return null;
    return {
      count,
      pixels: reported.pixels > 0 ? reported.pixels : null,
      sizedCount: reported.pixels > 0 ? Math.max(reported.count, 1) : 0,
      generationMs: larger(this.#generationMs, reported.generationMs),
      denoiseStepMs: reported.denoiseStepMs,
    };
  }
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function payloadBytes(url: string): number {
  const comma = url.indexOf(',');
  return url.startsWith('data:') && comma >= 0 ? Buffer.byteLength(url.slice(comma + 1), 'base64') : 0;
}

function imageStages(stages: Readonly<Record<string, StageSnapshot>>): {
  count: number;
  pixels: number;
  generationMs: number | null;
  denoiseStepMs: number | null;
} {
  const total = {
    count: 0,
    pixels: 0,
    generationMs: null as number | null,
    denoiseStepMs: null as number | null,
  };
  for (const stage of Object.values(stages)) {
    const type = stage.final_output_type;
    if (type !== 'image' && type !== 'images' && stage.output_unit_type !== 'image') continue;
    total.count += positiveNumber(stage.output_unit_count) ?? 0;
    total.pixels += positiveNumber(stage.image_pixels) ?? 0;
    const generationMs = positiveNumber(stage.stage_gen_time_ms);
    if (generationMs !== null) total.generationMs = (total.generationMs ?? 0) + generationMs;
    total.denoiseStepMs = larger(total.denoiseStepMs, positiveNumber(stage.denoise_step_latency_ms));
  }
  return total;
}
