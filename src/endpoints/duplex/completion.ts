import { asObject, type JsonObject } from '../json-values.ts';
import type { ResponseLedger } from './response-ledger.ts';
import { responseIdOf } from './response-ledger.ts';

/** Silence of the server after which nothing more is expected, ms. */
export const stableMs = 2000;

/** Decides when a session has heard everything. Pure: events and times are told. */
export type Completion = {
  /** An event that the ledger has entered. */
  onEvent(event: JsonObject, timeMs: number, ledger: ResponseLedger): void;
  /** All input was sent (and committed, where that is done). */
  inputEnded(timeMs: number): void;
  isComplete(nowMs: number, ledger: ResponseLedger): boolean;
  /** What the failure says where it did not come to that in time. */
  timeoutMessage(ledger: ResponseLedger): string;
};

/** A real decision of the model to go on listening; a beat of a buffer that fills is none. */
function isListenDecision(event: JsonObject): boolean {
  if (event.type !== 'response.listen') return false;
  const response = asObject(event.response);
  const metadata = asObject(response === null ? event.metadata : response.metadata);
  return metadata?.model_listen === true && metadata.buffering !== true;
}

/**
 * The model itself decides when to speak: the session ends after one decision that belongs to the committed input, a
 * response or a listen, with no response open and silence.
 */
export class ModelDecision implements Completion {
  #ended = false;
  /** Responses that must be done before a decision can be the commit's own; `null` = no commit was confirmed yet. */
  #prior: Set<string> | null = null;
  #decided = false;
  #lastMs = 0;

  inputEnded(timeMs: number): void {
    this.#ended = true;
    this.#lastMs = timeMs;
  }

  onEvent(event: JsonObject, timeMs: number, ledger: ResponseLedger): void {
    this.#lastMs = timeMs;
    if (!this.#ended || this.#decided) return;
    if (this.#prior === null) {
      if (event.type !== 'input_audio_buffer.committed') return;
      const commit = asObject(event.event);
      const deferred = commit?.overlap_deferred === true || commit?.response_create_deferred === true;
      this.#prior = new Set(deferred ? ledger.unfinished() : []);
    } else if (this.#prior.size > 0) {
      const id = event.type === 'response.done' ? responseIdOf(event) : null;
      if (id !== null) this.#prior.delete(id);
    } else this.#decided = isListenDecision(event) || isUncancelledDone(event, ledger);
  }

  isComplete(nowMs: number, ledger: ResponseLedger): boolean {
    return this.#decided && !ledger.hasUnfinished && nowMs - this.#lastMs >= stableMs;
  }

  timeoutMessage(ledger: ResponseLedger): string {
    return `Timed out waiting for committed input and stable responses${unfinishedText(ledger)}`;
  }
}

/** The server's voice detection decides: the session ends with no speech and no response open, and silence. */
export class ServerTurns implements Completion {
  #ended = false;
  #openSpeech = 0;
  #lastMs = 0;

  inputEnded(timeMs: number): void {
    this.#ended = true;
    this.#lastMs = Math.max(this.#lastMs, timeMs);
  }

  onEvent(event: JsonObject, timeMs: number): void {
    const type = String(event.type);
    if (type.startsWith('input_audio_buffer.') || type.startsWith('response.')) this.#lastMs = timeMs;
    if (type === 'input_audio_buffer.speech_started') this.#openSpeech += 1;
    if (type === 'input_audio_buffer.speech_stopped') this.#openSpeech = Math.max(0, this.#openSpeech - 1);
  }

  isComplete(nowMs: number, ledger: ResponseLedger): boolean {
    return this.#ended && this.#openSpeech === 0 && !ledger.hasUnfinished && nowMs - this.#lastMs >= stableMs;
  }

  timeoutMessage(): string {
    return 'Timed out waiting for server-detected turns to finish';
  }
}

function isUncancelledDone(event: JsonObject, ledger: ResponseLedger): boolean {
  if (event.type !== 'response.done') return false;
  const id = responseIdOf(event);
  return id !== null && !ledger.isCancelled(id);
}

/** In Python's spelling of a list, as the reference says it. */
function unfinishedText(ledger: ResponseLedger): string {
  const ids = ledger.unfinished();
  return ids.length === 0 ? '' : `; unfinished response_ids=${pythonList(ids)}`;
}

export function pythonList(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(', ')}]`;
}
