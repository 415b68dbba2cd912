import type { VoiceFacts } from '../pipeline/pipeline-definition.ts';

/** A voice that a client has uploaded. */
export type UploadedVoice = {
  readonly name: string;
  readonly consent: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly file_size: number;
  readonly mime_type: string;
  readonly ref_text?: string;
  readonly speaker_description?: string;
};

/** The voices of a speech model: its own, and what clients have uploaded since the server started. */
export class VoiceStore {
  readonly #own: readonly string[];
  readonly #uploaded = new Map<string, { readonly voice: UploadedVoice; readonly durationS: number }>();

  constructor(facts: VoiceFacts | null) {
    this.#own = facts?.voices ?? [];
  }

  /** Lower-case names, sorted. */
  names(): string[] {
    return [...new Set([...this.#own, ...this.#uploaded.keys()])].sort();
  }

  uploaded(): UploadedVoice[] {
    return [...this.#uploaded.values()].map(({ voice }) => voice);
  }

  isOwn(name: string): boolean {
    return this.#own.includes(name.toLowerCase());
  }

  add(voice: UploadedVoice, durationS: number): void {
    this.#uploaded.set(voice.name.toLowerCase(), { voice, durationS });
  }

  /** Length of an uploaded voice's sample, s; `null` = none was uploaded under this name. */
  durationS(name: string): number | null {
    return this.#uploaded.get(name.toLowerCase())?.durationS ?? null;
  }

  /** @returns whether there was an uploaded voice of this name */
  delete(name: string): boolean {
    return this.#uploaded.delete(name.toLowerCase());
  }
}
