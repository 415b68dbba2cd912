import type { Assistant, ResponseWish } from './assistant.ts';
import type { ConversationItem } from './conversation.ts';
import { DuplexError } from './duplex-error.ts';
import { checkVideoFrames, decodeInputAudio, type InputSound, rmsOf } from './input-audio.ts';
import type { ServerVad } from './session-config.ts';
import type { SessionCore } from './session-core.ts';
import { type VoiceChange, VoiceDetector } from './voice-detector.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The side of a session that listens: sound, pictures, turns, commits. Nothing of what it hears is kept. */
export class UserInput {
  readonly #core: SessionCore;
  readonly #assistant: Assistant;
  readonly #told: { heard(mediaMs: number): void; committed(): void };
  /** Input since the last commit, ms. */
  #bufferedMs = 0;
  #detector: VoiceDetector | null = null;
  /** What the detector was made for. */
  #serverVad: ServerVad | null = null;
  /** The item that the turn which is being spoken will be. */
  #turnItemId: string | null = null;
  /** Committed audio that no response has answered. */
  #unanswered = false;
  /** What was put in as text since the last answer; `null` = nothing. */
  #text: string | null = null;
  #committedTurns = 0;

  constructor(
    core: SessionCore,
    assistant: Assistant,
    told: { heard(mediaMs: number): void; committed(): void },
  ) {
    this.#core = core;
    this.#assistant = assistant;
    this.#told = told;
    this.reconfigured();
  }

  get hasBuffered(): boolean {
    return this.#bufferedMs > 0;
  }

  reconfigured(): void {
    const { config, clock } = this.#core;
    const { serverVad } = config;
    if (serverVad === this.#serverVad) return;
    this.#serverVad = serverVad;
    this.#detector = serverVad === null ? null : new VoiceDetector(serverVad, clock.mediaMs);
  }

  /** @throws DuplexError */
  append(event: Fields): void {
    const { config, clock, script } = this.#core;
    const { audio } = event;
    if (typeof audio !== 'string')
      throw new DuplexError('bad_event', 'input_audio_buffer.append needs "audio": a base64 text.', 'audio');
    const format = event.format ?? event.input_audio_format ?? config.inputAudioFormat;
    const rateHz = event.sample_rate_hz ?? config.inputRateHz;
    const sound = decodeInputAudio(audio, String(format), Number(rateHz));
    const frames = checkVideoFrames(event.video_frames);
    if (frames > 0 && !takesVideo(script.capabilities))
      throw new DuplexError('invalid_input_modality', 'This session takes no video_frames.', 'video_frames');
    const { samples, sampleRateHz } = sound;
    const durationMs = (samples.length * 1000) / sampleRateHz;
    this.#bufferedMs += durationMs;
    this.#core.parts.observer.heard(durationMs, frames);
    this.#assistant.heardMore();
    const closed = clock.advance(samples.length, sampleRateHz);
    this.#listen(sound, durationMs, event.is_speech);
    for (const mediaMs of closed) this.#assistant.atUnit(mediaMs);
    this.#told.heard(clock.mediaMs);
  }

  #listen(sound: InputSound, durationMs: number, hint: unknown): void {
    if (this.#detector !== null) {
      for (const change of this.#detector.hear(sound)) this.#voiceChanged(change);
      return;
    }
    if (this.#assistant.activeId === null) return;
    const { config } = this.#core;
    const isSpeech = typeof hint === 'boolean' ? hint : rmsOf(sound.samples) >= config.overlapSilenceRms;
    const decision = this.#assistant.overlap.judge(durationMs, isSpeech, config);
    if (decision.isNews) this.#tellOverlap(decision);
    if (decision.action === 'barge_in') this.#assistant.interrupt('barge_in');
  }

  #tellOverlap({ action, reason, overlapMs }: { action: string; reason: string; overlapMs: number }): void {
    const { id, epoch, config } = this.#core;
    this.#core.emit({
      type: 'overlap.decision',
      session_id: id,
      epoch,
      policy: config.overlapPolicy,
      action,
      reason,
      metadata: {
        overlap_ms: overlapMs,
        buffer_audio: action !== 'drop',
        defer_runtime_append: action === 'listen',
        force_listen: false,
      },
    });
  }

  #voiceChanged({ kind, atMs }: VoiceChange): void {
    const core = this.#core;
    if (kind === 'started') {
      this.#turnItemId = `item_${core.parts.newId()}`;
      core.emit({
        type: 'input_audio_buffer.speech_started',
        audio_start_ms: Math.round(atMs),
        item_id: this.#turnItemId,
      });
      if (this.#assistant.activeId === null || core.config.serverVad?.interruptResponse !== true) return;
      this.#tellOverlap({ action: 'barge_in', reason: 'server_vad_speech_started', overlapMs: 0 });
      this.#assistant.interrupt('turn_detected');
      return;
    }
    const itemId = this.#turnItemId ?? `item_${core.parts.newId()}`;
    core.emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.round(atMs), item_id: itemId });
    this.#commitItem(itemId, {});
    if (core.config.serverVad?.createResponse === true) this.answered();
  }

  /** @throws DuplexError */
  commit(event: Fields): void {
    const { config } = this.#core;
    if (event.is_speech === false) {
      this.#forget();
      this.#core.emitListen('silence');
      return;
    }
    if (this.#bufferedMs === 0)
      throw new DuplexError(
        'input_audio_buffer_empty',
        'The input audio buffer is empty: nothing to commit.',
      );
    const overlaps = this.#assistant.activeId !== null;
    const native = config.autoResponse && config.serverVad === null;
    const asked = event.response_create === true;
    this.#commitItem(this.#turnItemId ?? `item_${this.#core.parts.newId()}`, {
      ...(overlaps && asked ? { response_create_deferred: true } : {}),
      ...(overlaps && native ? { overlap_deferred: true } : {}),
    });
    this.#detector?.reset();
    if (asked) this.answered();
    else if (native) {
      this.#assistant.decide();
      if (!overlaps && this.#assistant.activeId !== null) this.#unanswered = false;
    }
  }

  /** A response answers what was committed. */
  answered(wish: Partial<ResponseWish> = {}): void {
    const text = this.#text;
    this.#unanswered = false;
    this.#text = null;
    this.#assistant.answer({ aloud: null, metadata: {}, text, ...wish });
  }

  /** @throws DuplexError where there is no committed audio that a response could answer */
  requireUnanswered(): void {
    if (this.#unanswered) return;
    if (this.#text !== null)
      throw new DuplexError(
        'text_only_turn_unsupported',
        'A turn of text alone is not supported: append and commit audio before response.create.',
      );
    throw new DuplexError('response_create_without_input', 'response.create needs committed input audio.');
  }

  /** An item was put in. */
  putIn({ type, content = [] }: ConversationItem): void {
    if (type !== 'message') return;
    for (const part of content) {
      if (part.type === 'input_audio') this.#unanswered = true;
      if (typeof part.text === 'string') this.#text = part.text;
    }
  }

  clear(): void {
    this.#forget();
    this.#core.emit({ type: 'input_audio_buffer.cleared' });
  }

  #forget(): void {
    this.#bufferedMs = 0;
    this.#turnItemId = null;
    this.#detector?.reset();
  }

  /** Seals what was heard into an item of the user's. */
  #commitItem(itemId: string, marks: Fields): void {
    const core = this.#core;
    const { conversation, script } = core;
    const transcript = script.transcripts[this.#committedTurns] ?? '';
    const previousItemId = conversation.lastId;
    const item: ConversationItem = {
      id: itemId,
      object: 'realtime.item',
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio', transcript }],
    };
    conversation.add(item);
    this.#committedTurns += 1;
    core.turnId += 1;
    core.parts.observer.turnCommitted();
    this.#bufferedMs = 0;
    this.#turnItemId = null;
    this.#unanswered = true;
    if (script.committed) this.#tellCommitted(item, previousItemId, transcript, marks);
    this.#told.committed();
  }

  #tellCommitted(
    item: ConversationItem,
    previousItemId: string | null,
    transcript: string,
    marks: Fields,
  ): void {
    const core = this.#core;
    const placed = { previous_item_id: previousItemId, item };
    core.emit({ type: 'conversation.item.added', ...placed });
    core.emit({ type: 'conversation.item.created', ...placed });
    core.emit({
      type: 'input_audio_buffer.committed',
      previous_item_id: previousItemId,
      item_id: item.id,
      event: {
        type: 'input.committed',
        session_id: core.id,
        turn_id: core.turnId,
        epoch: core.epoch,
        history_len: core.turnId + core.ledger.slots,
        message: { role: 'user', content: [{ type: 'input_audio', transcript }] },
        realtime_item_id: item.id,
        ...marks,
      },
    });
    core.emit({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: item.id,
      content_index: 0,
      transcript,
    });
    core.emit({ type: 'conversation.item.done', ...placed });
  }
}

/** Frames ride on appends unless a capability says otherwise. */
function takesVideo(capabilities: Fields): boolean {
  const lists = [capabilities.required_input_modalities, capabilities.optional_input_modalities];
  if (lists.every((list) => list === undefined)) return true;
  return lists.some((list) => list === 'video' || (Array.isArray(list) && list.includes('video')));
}
