import type { ScriptedResponse, SessionScript } from './duplex-script.ts';
import { plainResponse } from './response-plan.ts';

/**
 * What a session is to say next. Without a script, a model that decides by itself listens to one unit, speaks, and
 * then listens for as many units as it spoke seconds; it answers a commit where it has not spoken before. Half of the
 * published run's time is speech, and its first sound comes some 2.7 s after its input.
 */
export class ScriptCursor {
  readonly #pending: ScriptedResponse[] | null;
  readonly #listenOnly: boolean;
  #unitsToListen = 1;
  #spoke = false;

  /** @param firstText what is to be said first; `null` = nothing of the kind */
  constructor({ responses, listen_only: listenOnly }: SessionScript, firstText: string | null) {
    this.#listenOnly = listenOnly;
    if (firstText !== null)
      this.#pending = [{ ...plainResponse, at_ms: 0, text: firstText }, ...(responses ?? [])];
    else this.#pending = responses === undefined ? null : [...responses];
  }

  /** At the end of a unit; `null` = the model listens on. */
  atUnit(mediaMs: number): ScriptedResponse | null {
    if (this.#listenOnly) return null;
    if (this.#pending !== null) return this.due(mediaMs);
    if (this.#unitsToListen > 0) {
      this.#unitsToListen -= 1;
      return null;
    }
    return plainResponse;
  }

  /** After a commit in a session whose model decides by itself; `null` = it listens. */
  atCommit(mediaMs: number): ScriptedResponse | null {
    if (this.#listenOnly) return null;
    if (this.#pending === null) return this.#spoke ? null : plainResponse;
    return this.due(mediaMs) ?? this.#take(({ at_ms: atMs }) => atMs === undefined);
  }

  /** Where an answer is owed. Only a session that listens to everything gives none. */
  asked(mediaMs: number): ScriptedResponse | null {
    if (this.#listenOnly) return null;
    return this.atCommit(mediaMs) ?? plainResponse;
  }

  /** What was to begin by now and has not; of a script alone. */
  due(mediaMs: number): ScriptedResponse | null {
    return this.#take(({ at_ms: atMs }) => atMs !== undefined && atMs <= mediaMs);
  }

  /** So much is being said. */
  speaks(audioMs: number): void {
    this.#spoke = true;
    this.#unitsToListen = Math.max(1, Math.round(audioMs / 1000));
  }

  #take(fits: (response: ScriptedResponse) => boolean): ScriptedResponse | null {
    const index = this.#pending?.findIndex(fits) ?? -1;
    return index < 0 ? null : (this.#pending?.splice(index, 1)[0] ?? null);
  }
}
