import { DuplexError, shown } from './duplex-error.ts';
import { inputAudioFormats } from './input-audio.ts';
import type { VoiceDetectorSettings } from './voice-detector.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Turns that the server finds by itself. */
export type ServerVad = VoiceDetectorSettings & {
  readonly createResponse: boolean;
  /** Speech ends what is being said. */
  readonly interruptResponse: boolean;
};

const overlapPolicies = ['listen_only', 'auto', 'barge_in_on_speech'] as const;
const playbackPolicies = ['ack_only', 'commit_all_on_done'] as const;
const modalityNames = ['audio', 'text'] as const;

/** What a session was opened with, or changed to. */
export type SessionConfig = {
  /** As the session named it; `null` = it did not. */
  readonly model: string | null;
  readonly modalities: readonly (typeof modalityNames)[number][];
  readonly instructions: string | null;
  readonly voice: string | null;
  readonly refAudio: string | null;
  readonly inputAudioFormat: string;
  readonly outputAudioFormat: string;
  readonly inputRateHz: number;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly speed: number | null;
  readonly idleTimeoutS: number;
  readonly overlapPolicy: (typeof overlapPolicies)[number];
  readonly overlapShortAckMs: number;
  readonly overlapBargeInMs: number;
  readonly overlapSilenceRms: number;
  readonly playbackCommitPolicy: (typeof playbackPolicies)[number];
  /** `null` = the model or the client ends turns. */
  readonly serverVad: ServerVad | null;
  readonly inputAudioTranscription: unknown;
  readonly tracing: unknown;
  /** The model answers by itself. */
  readonly autoResponse: boolean;
  /** So many first units are listened to, whatever comes. */
  readonly forceListenCount: number;
  /** What the model is to say first; `null` = nothing. */
  readonly initialUserText: string | null;
  readonly stageMetrics: boolean;
  /** Name of the script that it wants; `null` = the next. */
  readonly scriptName: string | null;
};

/** The session that is there before it is configured. Where a voice is needed it has none, and answers in text. */
export function defaultSessionConfig(idleTimeoutS: number, modelDecides: boolean): SessionConfig {
  return {
    model: null,
    modalities: modelDecides ? ['text'] : ['audio', 'text'],
    instructions: null,
    voice: null,
    refAudio: null,
    inputAudioFormat: 'pcm16',
    outputAudioFormat: 'pcm16',
    inputRateHz: 16000,
    temperature: null,
    maxTokens: null,
    speed: null,
    idleTimeoutS,
    overlapPolicy: 'listen_only',
    overlapShortAckMs: 700,
    overlapBargeInMs: 1200,
    overlapSilenceRms: 0.003,
    playbackCommitPolicy: 'commit_all_on_done',
    serverVad: null,
    inputAudioTranscription: null,
    tracing: null,
    autoResponse: modelDecides,
    forceListenCount: 0,
    initialUserText: null,
    stageMetrics: false,
    scriptName: null,
  };
}

function bad(param: string, expected: string): DuplexError {
  return new DuplexError('invalid_duplex_runtime_config', `session.${param} must be ${expected}.`, param);
}

function fieldsOf(value: unknown, param: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return { ...value };
  throw bad(param, 'an object');
}

function textOf(fields: Fields, key: string, held: string | null): string | null {
  const value = fields[key];
  if (value === undefined) return held;
  if (value === null || typeof value === 'string') return value;
  throw bad(key, 'a text');
}

function numberOf<T extends number | null>(
  fields: Fields,
  key: string,
  held: T,
  least: number,
  most: number,
): T | number {
  const value = fields[key];
  if (value === undefined || value === null) return held;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw bad(key, `a number from ${least} to ${most}`);
}

function flagOf(fields: Fields, key: string, held: boolean): boolean {
  const value = fields[key];
  if (value === undefined || value === null) return held;
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 1) return true;
  if (value === 'false' || value === 0) return false;
  throw bad(key, 'true or false');
}

function choiceOf<T extends string>(fields: Fields, key: string, choices: readonly T[], held: T): T {
  const value = fields[key];
  if (value === undefined || value === null) return held;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw bad(key, `one of ${choices.join(', ')}`);
}

function modalitiesOf(fields: Fields, held: SessionConfig['modalities']): SessionConfig['modalities'] {
  const value = fields.modalities ?? fields.output_modalities;
  if (value === undefined || value === null) return held;
  const named = Array.isArray(value) ? modalityNames.filter((name) => value.includes(name)) : [];
  if (!Array.isArray(value) || named.length === 0 || named.length !== new Set(value).size)
    throw bad('modalities', 'a list of "audio" and "text"');
  return named;
}

/** Either spelling: `input_audio_format: "pcm16"`, or `audio.input.format.type: "audio/pcm"`. */
function formatOf(
  flat: unknown,
  nested: Fields,
  key: string,
  held: string,
  known: readonly string[],
): string {
  const format = flat ?? nested.format;
  if (format === undefined || format === null) return held;
  const name = typeof format === 'object' && 'type' in format ? format.type : format;
  const found = name === 'audio/pcm' ? 'pcm16' : known.find((candidate) => candidate === name);
  if (found !== undefined) return found;
  throw new DuplexError(
    'unsupported_audio_format',
    `session.${key} ${shown(JSON.stringify(name) ?? '')} is not supported; expected ${known.join(', ')}.`,
    key,
  );
}

function vadOf(fields: Fields, held: ServerVad | null, modelDecides: boolean): ServerVad | null {
  const value = fields.turn_detection;
  if (value === undefined) return held;
  if (value === null) return null;
  const given = fieldsOf(value, 'turn_detection');
  if (given.type === 'none') return null;
  if (given.type !== 'server_vad')
    throw new DuplexError(
      'unsupported_turn_detection',
      `turn_detection ${shown(JSON.stringify(given.type ?? null))} is not supported; expected null or "server_vad".`,
      'turn_detection',
    );
  if (flagOf(given, 'interrupt_response', modelDecides) !== modelDecides)
    throw new DuplexError(
      'unsupported_turn_detection',
      `turn_detection.interrupt_response: a model of this kind is ${modelDecides ? 'always' : 'never'} interrupted ` +
        'by speech that the server finds.',
      'turn_detection',
    );
  return {
    threshold: numberOf(given, 'threshold', 0.5, 0, 1),
    prefixPaddingMs: numberOf(given, 'prefix_padding_ms', 300, 0, 10_000),
    silenceDurationMs: numberOf(given, 'silence_duration_ms', 500, 20, 60_000),
    createResponse: flagOf(given, 'create_response', true),
    interruptResponse: modelDecides,
  };
}

function refAudioOf(fields: Fields, extra: Fields, held: string | null): string | null {
  const value = fields.ref_audio ?? extra.ref_audio;
  if (value === undefined || value === null) return held;
  if (typeof value !== 'string' || value === '') throw bad('ref_audio', 'a data: URL');
  if (/^data:audio\/[^,]+;base64,/i.test(value)) return value;
  throw new DuplexError(
    'unsupported_ref_audio_path',
    'session.ref_audio must be a "data:audio/…;base64,…" URL; paths and addresses are not read.',
    'ref_audio',
  );
}

/**
 * The configuration that a `session.update` asks for, over the one that holds.
 * @throws DuplexError
 */
export function readSessionConfig(
  session: unknown,
  held: SessionConfig,
  modelDecides: boolean,
): SessionConfig {
  if (typeof session !== 'object' || session === null || Array.isArray(session))
    throw new DuplexError('bad_event', 'session.update needs "session": an object.', 'session');
  const fields: Fields = { ...session };
  const extra = fieldsOf(fields.extra_body, 'extra_body');
  const audio = fieldsOf(fields.audio, 'audio');
  const input = fieldsOf(audio.input, 'audio.input');
  const output = fieldsOf(audio.output, 'audio.output');
  const serverVad = vadOf('turn_detection' in fields ? fields : input, held.serverVad, modelDecides);
  const autoResponse = flagOf(extra, 'auto_response', held.autoResponse);
  if (autoResponse && !modelDecides)
    throw new DuplexError(
      'invalid_duplex_runtime_config',
      'extra_body.auto_response: this model does not decide when to speak; commit, or use turn_detection.',
      'auto_response',
    );
  const rate = { rate: fields.sample_rate_hz ?? input.sample_rate_hz };
  return {
    model: textOf(fields, 'model', held.model),
    modalities: modalitiesOf(fields, held.modalities),
    instructions: textOf(fields, 'instructions', held.instructions),
    voice: textOf(fields, 'voice', held.voice),
    refAudio: refAudioOf(fields, extra, held.refAudio),
    inputAudioFormat: formatOf(
      fields.input_audio_format,
      input,
      'input_audio_format',
      held.inputAudioFormat,
      inputAudioFormats,
    ),
    outputAudioFormat: formatOf(
      fields.output_audio_format,
      output,
      'output_audio_format',
      held.outputAudioFormat,
      ['pcm16'],
    ),
    inputRateHz: numberOf(rate, 'rate', held.inputRateHz, 8000, 192_000),
    temperature: numberOf(fields, 'temperature', held.temperature, 0, 2),
    maxTokens: numberOf(fields, 'max_tokens', held.maxTokens, 1, 1_000_000),
    speed: numberOf(fields, 'speed', held.speed, 0.25, 4),
    idleTimeoutS: numberOf(fields, 'idle_timeout_s', held.idleTimeoutS, 0.001, 86_400),
    // The server's own turns mean that speech interrupts.
    overlapPolicy:
      serverVad === null || !serverVad.interruptResponse
        ? choiceOf(fields, 'overlap_policy', overlapPolicies, held.overlapPolicy)
        : 'barge_in_on_speech',
    overlapShortAckMs: numberOf(fields, 'overlap_short_ack_ms', held.overlapShortAckMs, 0, 60_000),
    overlapBargeInMs: numberOf(fields, 'overlap_barge_in_ms', held.overlapBargeInMs, 0, 60_000),
    overlapSilenceRms: numberOf(fields, 'overlap_silence_rms', held.overlapSilenceRms, 0, 1),
    playbackCommitPolicy: choiceOf(
      fields,
      'playback_commit_policy',
      playbackPolicies,
      held.playbackCommitPolicy,
    ),
    serverVad,
    inputAudioTranscription: fields.input_audio_transcription ?? held.inputAudioTranscription,
    tracing: fields.tracing ?? held.tracing,
    autoResponse,
    forceListenCount: numberOf(extra, 'force_listen_count', held.forceListenCount, 0, 100_000),
    initialUserText: textOf(extra, 'duplex_initial_user_text', held.initialUserText),
    stageMetrics: flagOf(
      { return_stage_metrics: fields.return_stage_metrics, ...extra },
      'return_stage_metrics',
      held.stageMetrics,
    ),
    scriptName: textOf(extra, 'duplex_script', held.scriptName),
  };
}

/**
 * What a session has been opened with and can't be changed to.
 * @throws DuplexError
 */
export function checkReconfiguration(
  held: SessionConfig,
  next: SessionConfig,
  state: { readonly heardAudio: boolean; readonly configured: boolean },
): void {
  if (next.model !== held.model && held.model !== null && next.model !== null)
    throw new DuplexError(
      'model_update_unsupported',
      'A session keeps its model; open another for another.',
      'model',
    );
  // Started by the server, and used by nobody yet.
  if (!state.configured && !state.heardAudio) return;
  if (next.instructions !== held.instructions)
    throw new DuplexError(
      'instructions_update_unsupported',
      'The instructions were read with the first unit and stay.',
      'instructions',
    );
  if (next.refAudio !== held.refAudio)
    throw new DuplexError(
      'ref_audio_update_unsupported',
      'A session keeps its reference audio.',
      'ref_audio',
    );
  if (next.voice !== held.voice && state.heardAudio)
    throw new DuplexError(
      'voice_update_after_audio_unsupported',
      'The voice can be changed before the first audio only.',
      'voice',
    );
  if (next.voice !== held.voice && held.refAudio !== null)
    throw new DuplexError('voice_update_unsupported', 'The voice is that of ref_audio.', 'voice');
}

/** @throws DuplexError where nobody's voice is known */
export function requireRefAudio({ modalities, refAudio }: SessionConfig): void {
  if (!modalities.includes('audio') || refAudio !== null) return;
  throw new DuplexError(
    'ref_audio_required',
    'Speech needs session.ref_audio: a WAV of the voice to speak with, as a data: URL.',
    'ref_audio',
  );
}
