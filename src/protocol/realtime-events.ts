/**
 * The events of a full-duplex realtime session over WebSocket, one JSON object per text frame, told apart by `type`.
 * Names are those of OpenAI's realtime API (current spelling) with the extensions of duplex servers. A client must
 * treat every field of a server's event as optional but `type`.
 */

/** Times of the assistant's audio, ms of audio, cumulative. */
export type PlaybackMarks = {
  readonly generated_ms: number;
  readonly sent_ms: number;
  readonly played_ms: number;
  readonly committed_ms: number;
};

/** What a session can do; clients branch on it, not on the model's name. */
export type DuplexCapabilities = {
  readonly implementation_level: string;
  readonly supports_input_append: boolean;
  readonly supports_barge_in: boolean;
  readonly supports_session_resume: boolean;
  readonly supports_session_lease: boolean;
  readonly supports_multi_session: boolean;
  readonly supports_audio_truncate?: boolean;
  /** One unit of the model: it decides once per so many ms of input whether to speak. */
  readonly chunk_period_ms: number;
  readonly input_modes: readonly string[];
  readonly signal_sources: readonly string[];
  readonly target_barge_in_latency_ms: number | null;
  /** Absent with the next: video frames ride on appends. */
  readonly required_input_modalities?: string | readonly string[];
  readonly optional_input_modalities?: string | readonly string[];
  readonly supports_image_input?: boolean;
  readonly supports_turn_commit_only?: boolean;
};

/** Who is to blame for an `error` event. */
export type RealtimeErrorClass = 'invalid_request_error' | 'rate_limit_error' | 'server_error';

/** Codes of `error` events by class. */
export const realtimeErrorCodes = {
  server_error: [
    'internal_error',
    'runtime_append_failed',
    'runtime_append_task_failed',
    'runtime_signal_failed',
    'runtime_abort_failed',
    'runtime_data_plane_stream_failed',
    'runtime_data_plane_text_without_audio',
    'runtime_touch_failed',
    'engine_error',
    'commit_aborted',
    'server_vad_unavailable',
  ],
  rate_limit_error: ['resource_exhausted', 'input_backpressure'],
  invalid_request_error: [
    'bad_event',
    'bad_audio',
    'config_timeout',
    'invalid_json',
    'event_too_large',
    'unknown_event',
    'session_exists',
    'session_closed',
    'unknown_session',
    'invalid_duplex_runtime_config',
    'instructions_update_unsupported',
    'persona_update_unsupported',
    'voice_update_unsupported',
    'unsupported_native_response_options',
    'response_already_active',
    'response_not_active',
    'response_create_without_input',
    'text_only_turn_unsupported',
    'input_audio_buffer_empty',
    'missing_item_id',
    'item_not_found',
    'playback_item_mismatch',
    'playback_item_not_found',
    'playback_ack_too_late',
    'unsupported_audio_format',
    'unsupported_turn_detection',
    'unsupported_ref_audio_path',
    'ref_audio_required',
    'model_update_unsupported',
    'voice_update_after_audio_unsupported',
    'ref_audio_update_unsupported',
    'native_text_append_unsupported',
    'invalid_video_frames',
    'invalid_input_modality',
    'invalid_function_call_output',
    'invalid_session_resume',
    'session_resume_expired',
    'unsupported_session_resume',
    'invalid_resume_token',
    'session_resume_conflict',
  ],
} as const satisfies Record<RealtimeErrorClass, readonly string[]>;

/** A code of {@link realtimeErrorCodes}. */
export type RealtimeErrorCode = (typeof realtimeErrorCodes)[RealtimeErrorClass][number];

/** Codes without a class of their own are the client's fault. */
export function realtimeErrorClass(code: RealtimeErrorCode): RealtimeErrorClass {
  for (const name of ['server_error', 'rate_limit_error'] as const) {
    if (realtimeErrorCodes[name].some((known) => known === code)) return name;
  }
  return 'invalid_request_error';
}

/** The rates of 16-bit mono PCM: those of a duplex session's input and output. */
export const realtimeAudio = { inputRateHz: 16000, outputRateHz: 24000 } as const;

/** A response's only item. */
export function responseItemId(responseId: string): string {
  return `item_${responseId}`;
}
