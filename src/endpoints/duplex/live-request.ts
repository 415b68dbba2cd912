import { UsageError } from '../../foundation/errors.ts';
import type { LiveInput, Sample } from '../../workloads/sample.ts';
import type { PreparedRequest, Target } from '../endpoint.ts';
import { asObject } from '../json-values.ts';
import { extraFields, requestHeaders } from '../request-parts.ts';
import { packLivePlan } from './live-body.ts';
import { outputRateHz } from './playback-queue.ts';
import { realtimeUrl } from './realtime-url.ts';

/** Limit of a session's waits where the sample names none, s. */
const defaultTimeoutS = 900;

/** Fields of `--extra-body` that stand in the session itself. */
type SessionFields = { readonly serverVad: boolean; readonly extra: Readonly<Record<string, unknown>> };

/**
 * Packs a live conversation: everything that takes time to make is made here, before the run's clock starts.
 * @throws UsageError for sound or settings that no session takes
 */
export function prepareLive(sample: Sample, live: LiveInput, target: Target): PreparedRequest {
  const { serverVad, extra } = sessionFields(extraFields(sample, target));
  const timeoutS = live.timeoutS ?? defaultTimeoutS;
  if (!(Number.isFinite(timeoutS) && timeoutS > 0))
    throw new UsageError('timeout_s must be finite and positive');
  if (live.pcm.byteLength === 0 || live.pcm.byteLength % 2 !== 0)
    throw new UsageError('a live sample must hold sound in whole 16-bit samples; this one does not');
  const update = JSON.stringify({
    type: 'session.update',
    session: sessionObject(live, { model: target.model, serverVad, extra, timeoutS }),
  });
  return {
    method: 'POST',
    url: duplexUrl(target),
    headers: requestHeaders(target, sample, null),
    body: packLivePlan({
      update,
      pcm: live.pcm,
      frames: live.frames,
      settings: {
        serverVad,
        timeoutS,
        sampleRateHz: live.sampleRateHz,
        durationS: live.durationS,
        requireResponse: live.requireResponse === true,
        caseFacts: live.caseFacts,
      },
    }),
    model: target.model,
    reading: { session: 'live' },
  };
}

/** A session that the server began by itself would know neither voice nor settings. */
export function duplexUrl(target: Target): string {
  return realtimeUrl(target.url, { duplex: '1', model: target.model }, { autostart: '0' });
}

/** @throws UsageError for a turn detection other than the two that a session knows */
function sessionFields(fields: Readonly<Record<string, unknown>>): SessionFields {
  const { turn_detection: detection = null, ...extra } = fields;
  const kind = asObject(detection)?.type ?? detection;
  if (kind !== null && kind !== 'none' && kind !== 'server_vad')
    throw new UsageError(
      `--extra-body: turn_detection is ${JSON.stringify(detection)}; expected "none" (the model decides) or "server_vad".`,
    );
  return { serverVad: kind === 'server_vad', extra };
}

function sessionObject(
  live: LiveInput,
  {
    model,
    serverVad,
    extra,
    timeoutS,
  }: {
    model: string;
    serverVad: boolean;
    extra: Readonly<Record<string, unknown>>;
    timeoutS: number;
  },
): Readonly<Record<string, unknown>> {
  return {
    model,
    modalities: ['audio', 'text'],
    input_audio_format: 'pcm16',
    output_audio_format: 'pcm16',
    sample_rate_hz: live.sampleRateHz,
    audio: { input: { sample_rate_hz: live.sampleRateHz }, output: { sample_rate_hz: outputRateHz } },
    turn_detection: serverVad ? { type: 'server_vad' } : null,
    ...(live.refAudio === null ? {} : { ref_audio: wavDataUrl(live.refAudio) }),
    ...(serverVad ? {} : { overlap_policy: 'listen_only' }),
    playback_commit_policy: 'ack_only',
    idle_timeout_s: timeoutS,
    extra_body: serverVad
      ? { auto_response: false, ...extra }
      : { auto_response: true, force_listen_count: 0, ...extra },
  };
}

function wavDataUrl(wav: Uint8Array): string {
  return `data:audio/wav;base64,${Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength).toString('base64')}`;
}
