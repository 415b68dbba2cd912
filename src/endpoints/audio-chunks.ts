import { parseWavHeader } from '../media/wav-header.ts';
import type { AudioFacts } from '../records/request-record.ts';
import { announcedFigure, type PcmDefaults } from './announced-layout.ts';
import { decodeBase64 } from './decode-base64.ts';

type PcmParameters = {
  readonly channels: number;
  readonly sampleBytes: number;
  readonly sampleRateHz: number;
};

/** What one audio chunk brought. */
export type AudioChunk = {
  readonly bytes: number /** Samples per channel; `null` = encoded or unreadable. */;
  readonly frames: number | null;
};

/**
 * Adds up the audio of one reply. WAV chunks are complete files; the first fixes the parameters and a chunk with
 * others is left out and counted. Encoded formats are kept for decoding after the run's timing.
 */
export class AudioChunks {
  readonly format: string;
  readonly #pcm: PcmDefaults;
  #parameters: PcmParameters | null = null;
  #frames = 0;
  #bytes = 0;
  #dropped = 0;
  #note: string | null = null;
  #encoded: Buffer[] = [];

  constructor(format: string, pcm: PcmDefaults) {
    this.format = format;
    this.#pcm = pcm;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether anything came that can be heard, as far as that can be told before encoded audio is decoded. */
  get holdsSound(): boolean {
    return this.#frames > 0 || this.#encoded.length > 0;
  }

  /** What was wrong with the first chunk that was left out; `null` = none was. */
  get note(): string | null {
    return this.#note;
  }

  /** @param base64 a chunk's payload; @param announcedRate what the server gave beside it as its rate, if anything */
  addBase64(base64: string, announcedRate: unknown): AudioChunk {
    const payload = decodeBase64(base64);
    if (payload === null) {
      const bytes = Buffer.from(base64, 'base64').length;
      this.#bytes += bytes;
      return this.#drop(bytes, `${base64.length} characters are not valid base64`);
    }
    this.#bytes += payload.length;
    if (this.format === 'wav') return this.#addWav(payload);
    if (this.format === 'pcm') return this.#addPcm(payload.length, announcedRate);
    if (payload.length > 0) this.#encoded.push(payload);
    return { bytes: payload.length, frames: null };
  }

  #addWav(payload: Buffer): AudioChunk {
    if (payload.length === 0) return { bytes: 0, frames: null };
    const header = parseWavHeader(payload, payload.length);
    if (!header.ok) return this.#drop(payload.length, header.reason);
    const sampleBytes = header.bitsPerSample / 8;
    const found: PcmParameters = {
      channels: header.channels,
      sampleBytes,
      sampleRateHz: header.sampleRateHz,
    };
    this.#parameters ??= found;
    if (!sameParameters(this.#parameters, found)) {
      return this.#drop(
        payload.length,
        `expected ${describe(this.#parameters)}, first differing chunk has ${describe(found)}`,
      );
    }
    const { announcedBytes, dataBytes } = header;
    if (announcedBytes !== null && announcedBytes > dataBytes)
      this.#note ??= `${dataBytes} of the ${announcedBytes} bytes of samples that a chunk's WAV header announces came`;
    const frames = Math.floor(dataBytes / (sampleBytes * header.channels));
    this.#frames += frames;
    return { bytes: payload.length, frames };
  }

  #addPcm(bytes: number, announcedRate: unknown): AudioChunk {
    this.#parameters ??= this.#announced(announcedRate);
    const frames = Math.floor(bytes / (2 * this.#parameters.channels));
    this.#frames += frames;
    return { bytes, frames };
  }

  #announced(rate: unknown): PcmParameters {
    const { channels, sampleRateHz } = this.#pcm;
    const { figure, doubt } = announcedFigure({ what: 'sample rate', value: rate, instead: sampleRateHz });
    this.#note ??= doubt;
    return { channels, sampleBytes: 2, sampleRateHz: figure };
  }

  #drop(bytes: number, note: string): AudioChunk {
    this.#dropped += 1;
    this.#note ??= note;
    return { bytes, frames: null };
  }

  /** `null` where no audio byte came. */
  facts(): AudioFacts | null {
    if (this.#bytes === 0) return null;
    const known = this.#parameters;
    return {
      format: this.format,
      sampleRateHz: known?.sampleRateHz ?? null,
      channels: known?.channels ?? null,
      sampleBytes: known?.sampleBytes ?? null,
      frames: known ? this.#frames : null,
      durationS: known ? this.#frames / known.sampleRateHz : null,
      bytes: this.#bytes,
      droppedChunks: this.#dropped,
      note: this.#note,
    };
  }

  encoded(): Uint8Array | null {
    return this.#encoded.length > 0 ? Buffer.concat(this.#encoded) : null;
  }
}

function sameParameters(a: PcmParameters, b: PcmParameters): boolean {
  return a.channels === b.channels && a.sampleBytes === b.sampleBytes && a.sampleRateHz === b.sampleRateHz;
}

function describe(p: PcmParameters): string {
  return `${p.sampleRateHz} Hz, ${p.channels} channel(s), ${p.sampleBytes * 8} bit`;
}
