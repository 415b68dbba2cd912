import type { InputSound } from './input-audio.ts';

export type VoiceDetectorSettings = {
  /** 0…1, as clients give it; 0.5 is the default. */
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
};

/** Somebody began to speak (padding taken off), or has been silent long enough. ms of input. */
export type VoiceChange = { readonly kind: 'started' | 'stopped'; readonly atMs: number };

const frameMs = 20;
/** Shorter noises are no speech. */
const leastSpeechMs = 60;
/** Root mean square at which a threshold of 1 lies: speech from a near microphone is at 0.05 to 0.2. */
const rmsOfFullThreshold = 0.02;

/** Finds turns in the input by its loudness, in frames of 20 ms. */
export class VoiceDetector {
  readonly #settings: VoiceDetectorSettings;
  readonly #leastRms: number;
  /** ms of input before this frame. */
  #atMs: number;
  #frameSum = 0;
  #frameSamples = 0;
  #speaking = false;
  #loudMs = 0;
  #quietMs = 0;

  /** @param atMs how much input it has missed, ms */
  constructor(settings: VoiceDetectorSettings, atMs = 0) {
    this.#settings = settings;
    this.#atMs = atMs;
    this.#leastRms = rmsOfFullThreshold * settings.threshold;
  }

  /** @returns what changed within this sound, in order */
  hear({ samples, sampleRateHz }: InputSound): VoiceChange[] {
    const perFrame = Math.round((sampleRateHz * frameMs) / 1000);
    const changes: VoiceChange[] = [];
    for (const sample of samples) {
      this.#frameSum += sample * sample;
      this.#frameSamples += 1;
      if (this.#frameSamples < perFrame) continue;
      const change = this.#frame(Math.sqrt(this.#frameSum / this.#frameSamples));
      if (change !== null) changes.push(change);
      this.#frameSum = 0;
      this.#frameSamples = 0;
    }
    return changes;
  }

  /** Forgets what it was hearing: the turn was ended otherwise. */
  reset(): void {
    this.#speaking = false;
    this.#loudMs = 0;
    this.#quietMs = 0;
  }

  #frame(rms: number): VoiceChange | null {
    this.#atMs += frameMs;
    const loud = rms >= this.#leastRms;
    this.#loudMs = loud ? this.#loudMs + frameMs : 0;
    this.#quietMs = loud ? 0 : this.#quietMs + frameMs;
    if (!this.#speaking && this.#loudMs >= leastSpeechMs) {
      this.#speaking = true;
      return {
        kind: 'started',
        atMs: Math.max(0, this.#atMs - this.#loudMs - this.#settings.prefixPaddingMs),
      };
    }
    if (this.#speaking && this.#quietMs >= this.#settings.silenceDurationMs) {
      this.#speaking = false;
      return { kind: 'stopped', atMs: this.#atMs };
    }
    return null;
  }
}
