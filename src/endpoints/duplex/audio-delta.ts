import { asObject, asText, type JsonObject } from '../json-values.ts';
import { outputRateHz } from './playback-queue.ts';
import { responseIdOf } from './response-ledger.ts';
import { SessionFault } from './session-fault.ts';

/** Event types of both generations of the API. */
export const audioDeltaTypes: ReadonlySet<unknown> = new Set([
  'response.output_audio.delta',
  'response.audio.delta',
]);
export const textDeltaTypes: ReadonlySet<unknown> = new Set([
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
  'response.output_text.delta',
  'response.text.delta',
]);

/** A piece of a response's sound. */
export type AudioDelta = {
  readonly responseId: string;
  /** 16-bit little-endian samples. */
  readonly pcm: Uint8Array;
};

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads audio deltas of one session; what a server leaves out is assumed, and said once. */
export class AudioDeltaReader {
  readonly #warn: (warning: string) => void;
  readonly #session: string;
  #lastRateHz = outputRateHz;

  /** @param session what error messages call the session, e.g. `OmniInteract` */
  constructor(session: string, warn: (warning: string) => void) {
    this.#session = session;
    this.#warn = warn;
  }

  /** @throws SessionFault for sound that can't be played */
  read(event: JsonObject): AudioDelta {
    const responseId = responseIdOf(event);
    if (responseId === null) throw new SessionFault('malformed', 'response audio has no response_id');
    const payload = asText(event.delta) ?? asText(event.audio);
    if (payload === null) throw new SessionFault('malformed', 'response audio payload is missing');
    this.#checkFormat(event);
    this.#checkRate(event);
    return { responseId, pcm: decoded(payload) };
  }

  #checkFormat(event: JsonObject): void {
    const format = event.format ?? null;
    if (format === null) this.#warn(`${event.type} omitted format; assumed pcm16`);
    else if (format !== 'pcm16')
      throw new SessionFault('malformed', `${this.#session} output must be pcm16`, said({ format }));
  }

  #checkRate(event: JsonObject): void {
    const rate = event.sample_rate_hz ?? null;
    if (rate === null) this.#warn(`${event.type} omitted sample_rate_hz; assumed ${this.#lastRateHz}`);
    else if (rate !== outputRateHz)
      throw new SessionFault(
        'malformed',
        `${this.#session} output must use ${outputRateHz} Hz audio`,
        said({ sample_rate_hz: rate }),
      );
    else this.#lastRateHz = outputRateHz;
  }
}

/** Bytes of an audio event's payload without judging it; 0 where there is none. */
export function payloadBytes(event: JsonObject): number {
  const payload = asText(event.delta) ?? asText(event.audio) ?? '';
  return Math.floor(((payload.length - paddingOf(payload)) * 3) / 4);
}

/** The event as its log keeps it: the sound itself lies in the WAV. */
export function withoutPayload(event: JsonObject, audioBytes: number): JsonObject {
  const { delta: _delta, audio: _audio, ...rest } = event;
  return { ...rest, audio_bytes: audioBytes };
}

function paddingOf(payload: string): number {
  return payload.endsWith('==') ? 2 : payload.endsWith('=') ? 1 : 0;
}

function decoded(payload: string): Uint8Array {
  const padding = paddingOf(payload);
  const isStrict = payload.length % 4 === 0 && base64Pattern.test(payload);
  const pcm = Buffer.from(payload, 'base64');
  if (!isStrict || pcm.length !== (payload.length / 4) * 3 - padding)
    throw new SessionFault('malformed', 'response audio is not valid base64');
  if (pcm.length === 0 || pcm.length % 2 !== 0)
    throw new SessionFault('malformed', 'response audio is empty or not PCM16 aligned');
  return pcm;
}

function said(fields: JsonObject): string {
  return JSON.stringify(fields).slice(0, 1024);
}

/** What an `error` event says, its code first; nested and flat forms are read. */
export function errorText(event: JsonObject): { code: string | null; text: string } {
  const nested = asObject(event.error);
  const code = asText(nested?.code) ?? asText(event.code) ?? (nested ? asText(nested.type) : null);
  const message = asText(nested?.message) ?? asText(event.error) ?? asText(event.message);
  const text = message === null || message === '' ? JSON.stringify(event).slice(0, 1024) : message;
  return { code, text: code === null || text.includes(code) ? text : `${code}: ${text}` };
}
