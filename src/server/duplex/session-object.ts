import type { DuplexCapabilities, PlaybackMarks } from '../../protocol/realtime-events.ts';
import type { SessionConfig } from './session-config.ts';

/** What of a session changes as it goes. */
export type SessionState = {
  readonly id: string;
  readonly model: string;
  readonly turnState: string;
  readonly epoch: number;
  readonly turnId: number;
  readonly activeResponseId: string | null;
  readonly playback: PlaybackMarks;
  readonly capabilities: Readonly<Record<string, unknown>>;
};

/** What a duplex model can do; one that does not decide when to speak is told when a turn has ended. */
export function modelCapabilities(chunkPeriodMs: number, modelDecides: boolean): DuplexCapabilities {
  return {
    implementation_level: 'model_native_duplex',
    supports_input_append: true,
    supports_barge_in: true,
    supports_session_resume: true,
    supports_session_lease: true,
    supports_multi_session: true,
    supports_audio_truncate: true,
    chunk_period_ms: chunkPeriodMs,
    input_modes: modelDecides ? ['append_audio_chunk'] : ['append_audio_chunk', 'turn_commit_only'],
    signal_sources: [...(modelDecides ? ['model_native'] : []), 'client_event', 'server_policy'],
    target_barge_in_latency_ms: null,
    ...(modelDecides ? {} : { supports_turn_commit_only: true }),
  };
}

function turnDetection({ serverVad }: SessionConfig): unknown {
  if (serverVad === null) return null;
  return {
    type: 'server_vad',
    threshold: serverVad.threshold,
    prefix_padding_ms: serverVad.prefixPaddingMs,
    silence_duration_ms: serverVad.silenceDurationMs,
    create_response: serverVad.createResponse,
    interrupt_response: serverVad.interruptResponse,
  };
}

/** `session` of `session.created` and `session.updated`: what holds, under both generations of names. */
export function sessionObject(config: SessionConfig, state: SessionState): Readonly<Record<string, unknown>> {
  const { activeResponseId } = state;
  return {
    object: 'realtime.session',
    type: 'realtime',
    id: state.id,
    model: state.model,
    state: 'open',
    turn_state: state.turnState,
    epoch: state.epoch,
    turn_id: state.turnId,
    active_request_id: activeResponseId,
    active_response_id: activeResponseId,
    active_response_turn_id: activeResponseId === null ? null : state.turnId,
    modalities: config.modalities,
    output_modalities: config.modalities,
    instructions: config.instructions,
    voice: config.voice,
    response_format: config.outputAudioFormat,
    input_audio_format: config.inputAudioFormat,
    output_audio_format: config.outputAudioFormat,
    audio: {
      input: { format: { type: 'audio/pcm', rate: config.inputRateHz }, sample_rate_hz: config.inputRateHz },
      output: { format: { type: 'audio/pcm', rate: 24000 } },
    },
    temperature: config.temperature,
    max_tokens: config.maxTokens,
    speed: config.speed,
    idle_timeout_s: config.idleTimeoutS,
    overlap_policy: config.overlapPolicy,
    overlap_short_ack_ms: config.overlapShortAckMs,
    overlap_barge_in_ms: config.overlapBargeInMs,
    overlap_silence_rms: config.overlapSilenceRms,
    playback_commit_policy: config.playbackCommitPolicy,
    turn_detection: turnDetection(config),
    input_audio_transcription: config.inputAudioTranscription,
    tracing: config.tracing,
    playback: state.playback,
    capabilities: state.capabilities,
  };
}
