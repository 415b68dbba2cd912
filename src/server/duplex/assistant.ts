import { realtimeAudio } from '../../protocol/realtime-events.ts';
import { DuplexError } from './duplex-error.ts';
import { describeTurn } from './duplex-lines.ts';
import type { Decision, DecisionTrigger, TurnEnd } from './duplex-observer.ts';
import type { ScriptedResponse } from './duplex-script.ts';
import { OverlapJudge } from './overlap-judge.ts';
import { plainResponse, planResponse } from './response-plan.ts';
import { type PlayerPorts, type ResponseEnd, ResponsePlayer } from './response-player.ts';
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
  #begun = 0;

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

  /** How many responses have begun. */
  get begun(): number {
    return this.#begun;
  }

  heardMore(): void {
    this.#inputEnded = false;
  }

  /** A unit of the model has closed. */
  atUnit(mediaMs: number): void {
    const { config, clock, parts } = this.#core;
    parts.observer.unitClosed();
    if (!config.autoResponse || config.serverVad !== null) return;
    if (this.#player !== null) {
      parts.observer.decided('unit', 'speak_on');
      return;
    }
    const forced = clock.units <= config.forceListenCount;
    this.#follow('unit', forced ? null : this.#cursor.atUnit(mediaMs));
  }

  /** The input was committed in a session whose model decides by itself. */
  decide(): void {
    this.#inputEnded = true;
    if (!this.#core.script.decision) return;
    if (this.#player !== null) {
      this.#owed = { kind: 'decision' };
      return;
    }
    this.#follow('commit', this.#cursor.atCommit(this.#core.clock.mediaMs));
  }

  /** An answer was asked for, or is owed to a turn. While another is being said, it waits for that to end. */
  answer(wish: ResponseWish): void {
    if (!this.#core.script.decision) return;
    if (this.#player !== null) {
      this.#owed = { kind: 'response', wish };
      return;
    }
    const response = this.#cursor.asked(this.#core.clock.mediaMs);
    const saysText = response === plainResponse && wish.text !== null;
    this.#follow('request', saysText ? { ...plainResponse, text: wish.text } : response, wish);
  }

  /**
   * Stops what is being said; what it said before is stale.
   * @returns the response's id; `null` = none was being said
   */
  interrupt(reason: string): string | null {
    const player = this.#player;
    this.#core.raiseEpoch(reason);
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

  /** The session is over. @param reason for who watches */
  stop(reason: TurnEnd): void {
    this.#player?.drop(reason);
    this.#player = null;
  }

  /** Does what was decided. @param response `null` = it listens */
  #follow(trigger: DecisionTrigger, response: ScriptedResponse | null, wish: ResponseWish = noWish): void {
    const decision: Decision = response === null || response.listen ? 'listen' : 'speak';
    this.#core.parts.observer.decided(trigger, decision);
    if (response === null) this.#listen('model_listen');
    else this.#begin(response, wish);
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
    this.#begun += 1;
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
    this.#player = new ResponsePlayer(
      identity,
      plan,
      this.#ports(aloud && plan.functionCall === null && !plan.listen),
    );
    this.#player.start();
  }

  /** @param aloud whether it will be heard */
  #ports(aloud: boolean): PlayerPorts {
    const core = this.#core;
    const watch = core.parts.observer.responseBegun(core.tasks.nowMs(), aloud);
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
      said: (tokens, tokenGapsMs, samples) => watch.said(tokens, tokenGapsMs, samples),
      over(turn, reason) {
        watch.ended(reason);
        core.parts.logLine?.(describeTurn(turn, reason));
      },
      ended: (end) => this.#ended(end),
      stageMetrics: (plan, chunk) =>
        core.config.stageMetrics ? stageSnapshots(plan, chunk, parts.stageNames) : null,
    };
  }

  /** The client is told to drop what it has not played. */
  clearOutput(): void {
    this.#core.raiseEpoch('output_cleared');
    this.#core.emit({ type: 'output_audio_buffer.cleared', response_id: this.latestId });
  }

  #ended(end: ResponseEnd): void {
    const core = this.#core;
    const epochBefore = this.#player?.identity.epoch;
    this.#player = null;
    core.emit({ type: 'rate_limits.updated', rate_limits: [] });
    // A cancellation that nobody asked for, since the script wants it.
    if (end.status === 'cancelled' && epochBefore === core.epoch) core.raiseEpoch(end.reason ?? 'cancelled');
    const owed = this.#owed;
    this.#owed = null;
    if (owed?.kind === 'decision') this.decide();
    else if (owed?.kind === 'response') this.answer(owed.wish);
    else if (this.#inputEnded) this.#beginDue();
  }

  #beginDue(): void {
    const response = this.#cursor.due(this.#core.clock.mediaMs);
    if (response !== null) this.#follow('commit', response);
  }
}
