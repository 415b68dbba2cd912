import { parseWavHeader } from '../media/wav-header.ts';
import type { EventLogBuilder } from '../records/event-log.ts';
import { eventKinds } from '../records/event-log.ts';
import type { AudioFacts } from '../records/request-record.ts';

/** How raw samples lie: what the server announced, else the client's settings. */
export type SampleLayout = {
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly sampleBytes: number;
};

/** What is known of bare samples beforehand. */
type Announced = { readonly layout: SampleLayout; readonly doubt?: string | null };

/**
 * The audio of one body that comes piece by piece: bare PCM, one WAV file whose header may be cut anywhere, or an
 * encoded format that is kept for decoding after the reply. Each piece becomes an event with the samples that it
 * completed; pieces of one network read are one event.
 */
export class SoundStream {
  readonly format: string;
  readonly #events: EventLogBuilder;
  #kind: 'pcm' | 'wav' | 'encoded';
  /** A WAV header as far as it has come; `null` = the samples have begun. */
  #head: Buffer | null = null;
  #layout: SampleLayout | null;
  #bytes = 0;
  #sampleBytes = 0;
  #frames = 0;
  /** Bytes of samples that the current WAV file still has to bring. */
  #promised = Number.POSITIVE_INFINITY;
  /** Whether that is a length, and not a writer's word for "not known". */
  #announced = false;
  #fault: string | null = null;
  #dropped = 0;
  #dropNote: string | null = null;
  /** Speaks against the layout of bare PCM. */
  readonly #doubt: string | null;
  #encoded: Buffer[] = [];
  #read: { timeMs: number; bytes: number; frames: number | null } | null = null;

  /** @param announced of bare PCM; a WAV header overrules it */
  constructor(format: string, announced: Announced, events: EventLogBuilder) {
    this.format = format;
    this.#events = events;
    this.#kind = format === 'pcm' || format === 'wav' ? format : 'encoded';
    this.#layout = this.#kind === 'pcm' ? announced.layout : null;
    this.#doubt = announced.doubt ?? null;
    if (this.#kind === 'wav') this.#head = Buffer.alloc(0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether anything came that can be heard. */
  get holdsSound(): boolean {
    return this.#kind === 'encoded' ? this.#bytes > 0 : this.#frames > 0;
  }

  /** Why the body can't be what it claims to be; `null` = nothing speaks against it. Asked for at its end. */
  get fault(): string | null {
    if (this.#fault !== null) return this.#fault;
    if (this.#kind === 'wav' && this.#head !== null && this.#head.length > 0)
      return `the WAV header is cut off after ${this.#head.length} bytes`;
    if (!this.#announced || this.#promised === 0) return null;
    return `the audio is cut off: ${this.#promised} bytes of the samples that the WAV header announces did not come`;
  }

  /** Takes a piece; `bytes` need not outlive the call. */
  add(bytes: Buffer, timeMs: number): void {
    if (bytes.length === 0) return;
    const startsFile = this.#bytes === 0 || this.#promised === 0;
    this.#bytes += bytes.length;
    if (this.#kind !== 'encoded' && this.#head === null && startsFile && isWavStart(bytes)) {
      this.#kind = 'wav';
      this.#head = Buffer.alloc(0);
    }
    if (this.#kind === 'encoded') {
      this.#encoded.push(Buffer.from(bytes));
      this.#note(timeMs, bytes.length, null);
    } else
      this.#note(timeMs, bytes.length, this.#count(this.#head === null ? bytes : this.#afterHead(bytes)));
  }

  /** The body is complete. */
  end(): void {
    const read = this.#read;
    this.#read = null;
    if (!read) return;
    const audible = read.frames === null || read.frames > 0;
    this.#events.append(
      read.timeMs,
      audible ? eventKinds.audio : eventKinds.empty,
      null,
      read.bytes,
      audible ? read.frames : null,
      0,
    );
  }

  /** `null` where no byte came. */
  facts(): AudioFacts | null {
    if (this.#bytes === 0) return null;
    const layout = this.#kind === 'encoded' ? null : this.#layout;
    return {
      format: this.#kind === 'encoded' ? this.format : this.#kind,
      sampleRateHz: layout?.sampleRateHz ?? null,
      channels: layout?.channels ?? null,
      sampleBytes: layout?.sampleBytes ?? null,
      frames: layout ? this.#frames : null,
      durationS: layout ? this.#frames / layout.sampleRateHz : null,
      bytes: this.#bytes,
      droppedChunks: this.#dropped,
      note: this.#dropNote ?? (this.#kind === 'pcm' ? this.#doubt : null),
    };
  }

  encoded(): Uint8Array | null {
    return this.#encoded.length > 0 ? Buffer.concat(this.#encoded) : null;
  }

  /** Feeds the header; returns what follows it. Bytes that are no WAV are left to the decoders. */
  #afterHead(bytes: Buffer): Buffer {
    const head = Buffer.concat([this.#head ?? Buffer.alloc(0), bytes]);
    const header = parseWavHeader(head, Number.MAX_SAFE_INTEGER);
    if (header.ok) {
      const { sampleRateHz, channels } = header;
      const found = { sampleRateHz, channels, sampleBytes: header.bitsPerSample / 8 };
      const samples = head.subarray(header.dataOffset);
      this.#head = null;
      this.#promised = header.dataBytes;
      this.#announced = header.announcedBytes !== null;
      // The first of several files in a row fixes the parameters.
      if (this.#sampleBytes === 0) this.#layout = found;
      if (sameLayout(this.#layout, found)) return samples;
      this.#drop(`expected ${describe(this.#layout)}, first differing file has ${describe(found)}`);
      this.#promised = Math.max(this.#promised - samples.length, 0);
      return Buffer.alloc(0);
    }
    if (header.kind === 'incomplete') this.#head = head;
    else if (header.kind === 'not_wav' && isWavStart(head)) {
      this.#fault = `the WAV header is broken: ${header.reason}`;
      this.#head = null;
      this.#layout = null;
    } else {
      this.#kind = 'encoded';
      this.#head = null;
      this.#encoded.push(head);
    }
    return Buffer.alloc(0);
  }

  /** @returns samples per channel that these bytes completed; `null` where that is not known */
  #count(bytes: Buffer): number | null {
    const layout = this.#layout;
    if (this.#kind === 'encoded') return null;
    if (!layout) return 0;
    const taken = Math.min(bytes.length, this.#promised);
    if (bytes.length > taken && this.#promised > 0 && !isTrailer(bytes.subarray(taken)))
      this.#drop(`${bytes.length - taken} bytes came after the samples that the WAV header announces`);
    this.#promised -= taken;
    this.#sampleBytes += taken;
    const frames = Math.floor(this.#sampleBytes / (layout.sampleBytes * layout.channels));
    const completed = frames - this.#frames;
    this.#frames = frames;
    return completed;
  }

  #drop(note: string): void {
    this.#dropped += 1;
    this.#dropNote ??= note;
  }

  #note(timeMs: number, bytes: number, frames: number | null): void {
    if (this.#read?.timeMs === timeMs) {
      this.#read.bytes += bytes;
      this.#read.frames = frames === null || this.#read.frames === null ? null : this.#read.frames + frames;
      return;
    }
    this.end();
    this.#read = { timeMs, bytes, frames };
  }
}

/** Writers pad samples to an even length and append chunks of text. */
function isTrailer(bytes: Buffer): boolean {
  return bytes.length === 1 || /^.?[A-Za-z ]{4}/s.test(bytes.toString('latin1', 0, 5));
}

function sameLayout(a: SampleLayout | null, b: SampleLayout): boolean {
  return (
    a !== null &&
    a.sampleRateHz === b.sampleRateHz &&
    a.channels === b.channels &&
    a.sampleBytes === b.sampleBytes
  );
}

function describe(layout: SampleLayout | null): string {
  return layout
    ? `${layout.sampleRateHz} Hz, ${layout.channels} channel(s), ${layout.sampleBytes * 8} bit`
    : 'none';
}

function isWavStart(bytes: Buffer): boolean {
  return (
    bytes.length >= 12 &&
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 12) === 'WAVE'
  );
}
