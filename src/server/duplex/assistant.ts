import { realtimeAudio } from '../../protocol/realtime-events.ts';
import { DuplexError } from './duplex-error.ts';
import type { ScriptedResponse } from './duplex-script.ts';
import { OverlapJudge } from './overlap-judge.ts';
import { plainResponse, planResponse } from './response-plan.ts';
import { type PlayerPorts, ResponsePlayer } from './response-player.ts';
import { ScriptCursor } from './script-cursor.ts';
import type { SessionCore } from './session-core.ts';
import { stageSnapshots } from './stage-snapshots.ts';

/** What `response.create` may ask for. */
export type ResponseWish = {
  /** `null` = as the session speaks. */
  readonly aloud: boolean | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What a session without a script is to say; `null` = what it likes. */
  readonly text: string | null;
};

const noWish: ResponseWish = { aloud: null, metadata: {}, text: null };

/** What is still owed for a commit made while a response was being said. */
type Owed = { readonly kind: 'decision' } | { readonly kind: 'response'; readonly wish: ResponseWish };

/** The side of a session that speaks: decides, says one response at a time, and is interrupted. */
export class Assistant {
  readonly overlap = new OverlapJudge();
  readonly #core: SessionCore;
  readonly #cursor: ScriptCursor;
  #player: ResponsePlayer | null = null;
  #lastResponseId: string | null = null;
  #owed: Owed | null = null;
  /** Nothing came since the last commit: what is due begins without waiting for a unit to close. */
  #inputEnded = false;
  #engineDead: boolean;

  constructor(core: SessionCore) {
    this.#core = core;
    this.#cursor = new ScriptCursor(core.script, core.config.initialUserText);
    this.#engineDead = core.faults.engineDead;
  }

  /** The response that is being said; `null` = none. */
  get activeId(): string | null {
    return this.#player?.identity.responseId ?? null;
  }

  /** That, or the last one. */
  get latestId(): string | null {
    return this.activeId ?? this.#lastResponseId;
  }

  heardMore(): void {
    this.#inputEnded = false;
  }

  /** A unit of the model has closed. */
  atUnit(mediaMs: number): void {
    const { config, clock } = this.#core;
    // While it speaks, its decision of each unit is to speak on.
    if (this.#player !== null || !config.autoResponse || config.serverVad !== null) return;
    const forced = clock.units <= config.forceListenCount;
    const response = forced ? null : this.#cursor.atUnit(mediaMs);
    if (response === null) this.#listen('model_listen');
    else this.#begin(response, noWish);
  }

  /** The input was committed in a session whose model decides by itself. */
  decide(): void {
    this.#inputEnded = true;
    if (!this.#core.script.decision) return;
    if (this.#player !== null) {
      this.#owed = { kind: 'decision' };
      return;
    }
    const response = this.#cursor.atCommit(this.#core.clock.mediaMs);
    if (response === null) this.#listen('model_listen');
    else this.#begin(response, noWish);
  }

  /** An answer was asked for, or is owed to a turn. While another is being said, it waits for that to end. */
  answer(wish: ResponseWish): void {
    if (!this.#core.script.decision) return;
    if (this.#player !== null) {
      this.#owed = { kind: 'response', wish };
      return;
    }
    const response = this.#cursor.asked(this.#core.clock.mediaMs);
    if (response === null) this.#listen('model_listen');
    else if (response === plainResponse && wish.text !== null)
      this.#begin({ ...plainResponse, text: wish.text }, wish);
    else this.#begin(response, wish);
  }

  /**
   * Stops what is being said; what it said before is stale.
   * @returns the response's id; `null` = none was being said
   */
  interrupt(reason: string): string | null {
    const player = this.#player;
    this.#core.epoch += 1;
    player?.cancel(reason);
    return player?.identity.responseId ?? null;
  }

  /** @throws DuplexError where that response is not being said */
  cancel(responseId: unknown): void {
    const { activeId } = this;
    if (activeId === null || (responseId !== undefined && responseId !== null && responseId !== activeId))
      throw new DuplexError(
        'response_not_active',
        activeId === null ? 'No response is active.' : `The active response is ${activeId}.`,
        'response_id',
      );
    this.interrupt('client_cancelled');
  }

  /** What was asked for before is not wanted any more. */
  forgetOwed(): void {
    this.#owed = null;
  }

  stop(): void {
    this.#player?.drop();
    this.#player = null;
  }

  #listen(reason: string): void {
    const { tasks, parts, faults } = this.#core;
    tasks.later(parts.laws.listenMs * parts.timeScale * faults.factor, () => this.#core.emitListen(reason));
  }

  #begin(scripted: ScriptedResponse, wish: ResponseWish): void {
    const { parts, random, config, conversation, ledger, faults } = this.#core;
    const aloud = wish.aloud ?? config.modalities.includes('audio');
    const planned = planResponse(scripted, {
      laws: parts.laws,
      random,
      timeScale: parts.timeScale * faults.factor,
      countTokens: parts.countTokens,
      aloud,
    });
    const plan = this.#engineDead
      ? { ...planned, chunks: [], status: 'failed' as const, reason: 'engine_error' }
      : planned;
    this.#engineDead = false;
    const responseId = `resp_${parts.newId()}`;
    ledger.open(responseId, this.#core.turnId);
    this.#cursor.speaks(plan.chunks.at(-1)?.audioMs ?? 0);
    this.overlap.reset();
    this.#lastResponseId = responseId;
    const identity = {
      responseId,
      sessionId: this.#core.id,
      epoch: this.#core.epoch,
      turnId: this.#core.turnId,
      aloud,
      previousItemId: conversation.lastId,
      clientMetadata: wish.metadata,
      eventNames: parts.eventNames,
    };
    this.#player = new ResponsePlayer(identity, plan, this.#ports());
    this.#player.start();
  }

  #ports(): PlayerPorts {
    const core = this.#core;
    const { conversation, ledger, parts } = core;
    return {
      scheduler: parts.scheduler,
      ledger,
      newId: parts.newId,
      tellsRequestMetrics: core.script.request_metrics,
      claimedRateHz: core.faults.claimedRateHz ?? realtimeAudio.outputRateHz,
      emit: (event, note) => core.emit(event, note),
      item(item) {
        // One that the client has deleted meanwhile stays so.
        const isNew = item.status === 'in_progress' || item.type === 'function_call';
        if (isNew || conversation.has(item.id)) conversation.put(item);
      },
      cleared: () => this.clearOutput(),
      listens: (responseId) => core.emitListen('model_listen', responseId),
      ending(responseId, { status }) {
        if (status !== 'completed') return;
        if (core.config.playbackCommitPolicy === 'commit_all_on_done') ledger.commitAll(responseId);
      },
      ended: ({ status }) => this.#ended(status === 'cancelled'),
      stageMetrics: (plan, chunk) =>
        core.config.stageMetrics ? stageSnapshots(plan, chunk, parts.stageNames) : null,
    };
  }

  /** The client is told to drop what it has not played. */
  clearOutput(): void {
    this.#core.epoch += 1;
    this.#core.emit({ type: 'output_audio_buffer.cleared', response_id: this.latestId });
  }

  #ended(cancelled: boolean): void {
    const core = this.#core;
    const epochBefore = this.#player?.identity.epoch;
    this.#player = null;
    core.emit({ type: 'rate_limits.updated', rate_limits: [] });
    // A cancellation that nobody asked for, since the script wants it.
    if (cancelled && epochBefore === core.epoch) core.epoch += 1;
    const owed = this.#owed;
    this.#owed = null;
    if (owed?.kind === 'decision') this.decide();
    else if (owed?.kind === 'response') this.answer(owed.wish);
    else if (this.#inputEnded) this.#beginDue();
  }

  #beginDue(): void {
    const response = this.#cursor.due(this.#core.clock.mediaMs);
    if (response !== null) this.#begin(response, noWish);
  }
}
