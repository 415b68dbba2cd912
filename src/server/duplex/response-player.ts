import { realtimeAudio } from '../../protocol/realtime-events.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { simulatedSpeech } from '../engine/sim-speech.ts';
import type { ScheduledTask } from '../engine/task-heap.ts';
import type { ConversationItem } from './conversation.ts';
import type { DuplexEvent, EventNote } from './duplex-event.ts';
import type { SaidTurn } from './duplex-lines.ts';
import { type TurnEnd, turnEndOf } from './duplex-observer.ts';
import type { PlaybackLedger } from './playback-ledger.ts';
import {
  applyFault,
  assistantItem,
  audioDelta,
  closingEvents,
  createdEvent,
  doneEvent,
  functionCallEvents,
  openingEvents,
  type ResponseIdentity,
  speakEvent,
  textDelta,
} from './response-events.ts';
import type { PlannedChunk, ResponsePlan, ResponseStatus } from './response-plan.ts';

/** How a response ended. */
export type ResponseEnd = { readonly status: ResponseStatus; readonly reason: string | null };

/** What a response needs of its session. */
export type PlayerPorts = {
  readonly scheduler: Scheduler;
  readonly ledger: PlaybackLedger;
  readonly newId: () => string;
  emit(event: DuplexEvent, note?: EventNote): void;
  /** Puts its item into the conversation, or how that ended. */
  item(item: ConversationItem): void;
  /** The output buffer is cleared while it goes on. */
  cleared(): void;
  /** It listens after all. */
  listens(responseId: string): void;
  /** It is over; called before its `response.done`, so that that can tell what counts as said. */
  ending(responseId: string, end: ResponseEnd): void;
  /** Some of it has left: new tokens, the gaps before them, samples. */
  said(tokens: number, tokenGapsMs: readonly number[], samples: number): void;
  /** One that the client knows of is over, for who watches; without `response.done` where the session is over. */
  over(turn: SaidTurn, reason: TurnEnd): void;
  /** It is over and has said so. */
  ended(end: ResponseEnd): void;
  /** What its stages did up to a chunk; `null` = nobody wants to know. */
  stageMetrics(plan: ResponsePlan, chunk: PlannedChunk): StageMetrics | null;
  /** The server's own first-output times go with the events. */
  readonly tellsRequestMetrics: boolean;
  /** The rate that its sound says it has. */
  readonly claimedRateHz: number;
};

const { outputRateHz } = realtimeAudio;
const keptTexts = 64;
const base64Texts = new Map<number, string>();

/** Equal lengths share one text. */
function speechBase64(samples: number): string {
  let text = base64Texts.get(samples);
  if (text === undefined) {
    text = simulatedSpeech(samples, outputRateHz).pcm.toString('base64');
    if (base64Texts.size >= keptTexts) base64Texts.clear();
    base64Texts.set(samples, text);
  }
  return text;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Says one response, chunk by chunk at its times, unless it is cancelled. */
export class ResponsePlayer {
  readonly identity: ResponseIdentity;
  readonly #plan: ResponsePlan;
  readonly #ports: PlayerPorts;
  readonly #task: ScheduledTask;
  readonly #startMs: number;
  #stage: 'waiting' | 'playing' | 'ended' = 'waiting';
  #next = 0;
  #text = '';
  #cleared = false;
  #spoke = false;
  /** From the start until the first text and the first sound, ms; `null` = not yet. */
  #ttftMs: number | null = null;
  #ttfpMs: number | null = null;
  /** From the start until the last sound so far, ms. */
  #lastAudioMs: number | null = null;
  #saidTokens = 0;
  #saidSamples = 0;

  constructor(identity: ResponseIdentity, plan: ResponsePlan, ports: PlayerPorts) {
    this.identity = identity;
    this.#plan = plan;
    this.#ports = ports;
    this.#startMs = ports.scheduler.nowMs();
    this.#task = { dueMs: this.#startMs + plan.delayMs, heapSlot: -1, run: () => this.#run() };
  }

  /** Begins: at once where nothing delays it. */
  start(): void {
    if (this.#plan.delayMs > 0) this.#ports.scheduler.add(this.#task);
    else this.#open();
  }

  /** Ends it with what has been said. */
  cancel(reason: string): void {
    this.#end('cancelled', reason);
  }

  /** Stops it without a word: the session is over. */
  drop(reason: TurnEnd): void {
    const opened = this.#stage === 'playing';
    this.#stage = 'ended';
    this.#ports.scheduler.remove(this.#task);
    if (opened) this.#ports.over(this.#turn(), reason);
  }

  /** What has been said so far. */
  #turn(): SaidTurn {
    const { responseId, sessionId, turnId, epoch } = this.identity;
    return {
      ...{ responseId, sessionId, turnId, epoch },
      totalMs: this.#ports.scheduler.nowMs() - this.#startMs,
      ttftMs: this.#ttftMs,
      ttfpMs: this.#ttfpMs,
      lastAudioMs: this.#lastAudioMs,
      tokens: this.#saidTokens,
      audioMs: (this.#saidSamples * 1000) / outputRateHz,
    };
  }

  /** It has an item with words in it: neither a call, nor one that turns out to be listening. */
  get #speaks(): boolean {
    return this.#plan.functionCall === null && !this.#plan.listen;
  }

  #run(): void {
    if (this.#stage === 'waiting') this.#open();
    else this.#play();
  }

  #emit(event: DuplexEvent, note: EventNote = {}): void {
    const { responseId } = this.identity;
    for (const sent of applyFault(event, this.#plan.fault, `resp_${this.#ports.newId()}`))
      this.#ports.emit(sent, { ...note, responseId });
  }

  #open(): void {
    this.#stage = 'playing';
    this.#emit(createdEvent(this.identity));
    if (this.#speaks) {
      for (const event of openingEvents(this.identity)) this.#emit(event);
      this.#ports.item(assistantItem(this.identity, 'in_progress', null));
    }
    this.#arm();
  }

  #arm(): void {
    const { chunks, listen, listenMs, delayMs } = this.#plan;
    const atMs = listen ? listenMs : (chunks[this.#next]?.atMs ?? 0);
    this.#task.dueMs = this.#startMs + delayMs + atMs;
    this.#ports.scheduler.add(this.#task);
  }

  #play(): void {
    const { chunks, listen, status, reason, functionCall } = this.#plan;
    if (listen) {
      this.#ports.listens(this.identity.responseId);
      this.#end('completed', null);
      return;
    }
    if (functionCall !== null) {
      this.#call(functionCall);
      return;
    }
    const chunk = chunks[this.#next];
    if (chunk !== undefined) this.#say(chunk, this.#next === chunks.length - 1);
    this.#next += 1;
    if (this.#next >= chunks.length) this.#end(status, reason);
    else this.#arm();
  }

  #say(chunk: PlannedChunk, last: boolean): void {
    const { identity } = this;
    const elapsedMs = this.#ports.scheduler.nowMs() - this.#startMs;
    const { aloud, responseId } = identity;
    const tokensBefore = this.#saidTokens;
    const newTokens = chunk.tokens - tokensBefore;
    this.#saidTokens = chunk.tokens;
    this.#saidSamples += chunk.samples;
    this.#text += chunk.text;
    if (chunk.text !== '') this.#ttftMs ??= elapsedMs;
    if (chunk.samples > 0) {
      this.#ttfpMs ??= elapsedMs;
      this.#lastAudioMs = elapsedMs;
    }
    const gaps = this.#plan.tokenGapsMs.slice(Math.max(0, tokensBefore - 1), Math.max(0, chunk.tokens - 1));
    this.#ports.said(newTokens, gaps, chunk.samples);
    this.#ports.ledger.said(responseId, chunk.text, chunk.audioMs);
    const metadata = this.#metadata(chunk, last);
    if (aloud) {
      if (this.#plan.speak && !this.#spoke) this.#emit(speakEvent(identity));
      this.#spoke = true;
      const audio = { base64: speechBase64(chunk.samples), sampleRateHz: this.#ports.claimedRateHz };
      this.#emit(audioDelta(identity, audio, metadata), { samples: chunk.samples });
    }
    this.#emit(textDelta(identity, chunk.text, metadata), { tokens: newTokens });
    const { clearAfterMs } = this.#plan;
    if (clearAfterMs === null || this.#cleared || chunk.audioMs < clearAfterMs) return;
    this.#cleared = true;
    this.#ports.cleared();
  }

  #metadata(chunk: PlannedChunk, last: boolean): Readonly<Record<string, unknown>> {
    const { responseId } = this.identity;
    const stages = this.#ports.stageMetrics(this.#plan, chunk);
    return {
      end_of_turn: last,
      audio_duration_ms: chunk.audioMs,
      audio_text_marks: [{ text_chars: chunk.textChars, audio_end_ms: chunk.audioMs }],
      playback: this.#ports.ledger.marks(responseId),
      ...this.#requestMetrics(),
      ...(stages === null ? {} : { stage_metrics: stages }),
    };
  }

  #requestMetrics(): Readonly<Record<string, unknown>> {
    const origin: Record<string, string> = {};
    const times: Record<string, number> = {};
    if (this.#ttftMs !== null) {
      times.ttft_ms = rounded(this.#ttftMs);
      origin.ttft = 'model turn request start to first non-empty text delta';
    }
    if (this.#ttfpMs !== null) {
      times.ttfp_ms = rounded(this.#ttfpMs);
      origin.ttfp = 'model turn request start to first audio packet';
    }
    if (!this.#ports.tellsRequestMetrics || Object.keys(times).length === 0) return {};
    return { response_request_metrics: { ...times, measurement_origin: origin } };
  }

  #call(call: { readonly name: string; readonly arguments: string }): void {
    const callId = `call_${this.#ports.newId()}`;
    const { item, events } = functionCallEvents(this.identity, { callId, ...call });
    if (isJson(call.arguments)) {
      for (const event of events) this.#emit(event);
      this.#ports.item(item);
      this.#end('completed', null, item);
      return;
    }
    const { sessionId, epoch } = this.identity;
    const raw = { type: 'function_call.done', session_id: sessionId, epoch, call_id: null, name: null };
    this.#emit({ type: 'duplex.function_call.done', event: { ...raw, arguments: call.arguments } });
    this.#end('completed', null);
  }

  #end(status: ResponseStatus, reason: string | null, callItem: ConversationItem | null = null): void {
    if (this.#stage === 'ended') return;
    const opened = this.#stage === 'playing';
    this.#stage = 'ended';
    this.#ports.scheduler.remove(this.#task);
    const end = { status, reason };
    const { identity } = this;
    this.#ports.ending(identity.responseId, end);
    if (opened) {
      this.#ports.over(this.#turn(), turnEndOf(end));
      const spoken = this.#speaks;
      if (spoken) for (const event of closingEvents(identity, status, this.#text)) this.#emit(event);
      const item = spoken ? assistantItem(identity, status, this.#text) : callItem;
      if (item !== null) this.#ports.item(item);
      this.#emit(doneEvent(identity, { ...end, item }, this.#doneMetadata()));
    }
    this.#ports.ended(end);
  }

  #doneMetadata(): Readonly<Record<string, unknown>> {
    const { responseId } = this.identity;
    const last = this.#plan.chunks[this.#next - 1] ?? this.#plan.chunks[0];
    const said = this.#text === '' ? undefined : last;
    const stages = said === undefined ? null : this.#ports.stageMetrics(this.#plan, said);
    return {
      committed: this.#ports.ledger.isCommitted(responseId),
      playback: this.#ports.ledger.marks(responseId),
      ...this.#requestMetrics(),
      ...(stages === null ? {} : { stage_metrics: stages }),
    };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
