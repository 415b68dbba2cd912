import type { ImageFacts, StageSnapshot } from '../records/request-record.ts';
import { asObject, asText, positiveNumber } from './json-values.ts';
import { generationMsOf } from './reply-facts.ts';

/** Counts the images of one reply: each part that carries one, whatever chunk it came in. */
export class ImageTally {
  count = 0;
  #pixels = 0;
  #sized = 0;
  #broken = 0;
  #generationMs: number | null = null;

  /** Images whose bytes were looked at. */
  addReadable({ count, pixels, broken }: { count: number; pixels: number; broken: number }): void {
    this.count += count;
    this.#sized += count;
    this.#pixels += pixels;
    this.#broken += broken;
  }

  addGenerationMs(ms: number | null): void {
    if (ms !== null) this.#generationMs = (this.#generationMs ?? 0) + ms;
  }

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
        this.addGenerationMs(generationMs);
      }
    }
    return bytes;
  }

  /** The images seen, raised by what image stages report where that is more; `null` = no image at all. */
  facts(stages: Readonly<Record<string, StageSnapshot>>): ImageFacts | null {
    const reported = imageStages(stages);
    const count = Math.max(this.count, reported.count);
    if (count === 0) return null;
    const byStage = reported.pixels > this.#pixels;
    const pixels = byStage ? reported.pixels : this.#pixels;
    return {
      count,
      pixels: pixels > 0 ? pixels : null,
      sizedCount: byStage ? Math.max(reported.count, 1) : this.#sized,
      broken: this.#broken,
      // Durations name the stages that wrote text before the picture, too; the image stage speaks for itself.
      generationMs: reported.generationMs ?? this.#generationMs,
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
