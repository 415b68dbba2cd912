import { UsageError } from '../../foundation/errors.ts';
import { resamplePcm } from '../../media/resample-pcm.ts';
import { parseWavHeader } from '../../media/wav-header.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { PreparedRequest, Target } from '../endpoint.ts';
import { asText } from '../json-values.ts';
import { extraFields, promptText, refuseMedia, requestHeaders } from '../request-parts.ts';
import { packLivePlan } from './live-body.ts';
import { duplexUrl } from './live-request.ts';
import { outputRateHz } from './playback-queue.ts';
import { realtimeUrl } from './realtime-url.ts';

type Fields = Readonly<Record<string, unknown>>;

const nativeRateHz = 16_000;
const idleTimeoutS = 900;
const serverVad = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 800,
};

/**
 * An utterance of a model that listens and speaks at once: its text stands in the session.
 * @throws UsageError for a sample that is no text
 */
export function prepareNativeSpeech(sample: Sample, target: Target): PreparedRequest {
  const text = spokenText(sample);
  const { session, extra } = sessionParts(sample, target);
  return packed(sample, target, {
    url: duplexUrl(target),
    reference: new Uint8Array(),
    settings: { manner: 'native', trigger: 'explicit', text, sampleRateHz: nativeRateHz },
    session: {
      ...sessionHead(target, nativeRateHz, null),
      ...session,
      overlap_policy: 'listen_only',
      playback_commit_policy: 'ack_only',
      idle_timeout_s: idleTimeoutS,
      extra_body: {
        auto_response: true,
        return_stage_metrics: true,
        duplex_initial_user_text: text,
        force_listen_count: 0,
        ...extra,
      },
    },
  });
}

/**
 * An utterance of a server that speaks in turns: its text is an item of the conversation, with the reference speech
 * behind it where there is one.
 * @throws UsageError for a sample that is no text, an unknown trigger, and reference speech that is no WAV
 */
export function prepareTurnSpeech(sample: Sample, target: Target): PreparedRequest {
  const text = spokenText(sample);
  const { session, extra: given } = sessionParts(sample, target);
  const { realtime_trigger: trigger = 'explicit', ...extra } = given;
  const reference = referenceSpeech(session.ref_audio);
  if (trigger !== 'explicit' && trigger !== 'vad')
    throw new UsageError(
      `--extra-body: realtime_trigger is ${JSON.stringify(trigger)}; expected "explicit" or "vad".`,
    );
  if (trigger === 'vad' && reference.byteLength === 0)
    throw new UsageError(
      '--extra-body: realtime_trigger "vad" needs speech whose end the server can hear. Give ref_audio as a data:audio/wav;base64 URL, or leave the trigger out.',
    );
  return packed(sample, target, {
    url: realtimeUrl(target.url, { model: target.model }, { autostart: '0' }),
    reference,
    settings: { manner: 'turn', trigger, text, sampleRateHz: outputRateHz },
    session: {
      ...sessionHead(target, outputRateHz, trigger === 'vad' ? serverVad : null),
      ...session,
      playback_commit_policy: 'ack_only',
      idle_timeout_s: idleTimeoutS,
      extra_body: { auto_response: false, return_stage_metrics: true, ...extra },
    },
  });
}

function packed(
  sample: Sample,
  target: Target,
  {
    url,
    reference,
    settings,
    session,
  }: {
    url: string;
    reference: Uint8Array;
    settings: Fields;
    session: Fields;
  },
): PreparedRequest {
  const update = JSON.stringify({ type: 'session.update', session });
  return {
    method: 'POST',
    url,
    headers: requestHeaders(target, sample, null),
    body: packLivePlan({ update, pcm: reference, frames: [], settings }),
    model: target.model,
    reading: { session: 'speech' },
  };
}

function spokenText(sample: Sample): string {
  refuseMedia(sample, 'The Realtime API');
  const text = promptText(sample, 'The Realtime API');
  if (text.trim() === '')
    throw new UsageError('The Realtime API speaks texts, and the dataset brings an empty one.');
  return text;
}

/** Fields of `--extra-body` that stand in the session itself, and the others. */
function sessionParts(sample: Sample, target: Target): { session: Fields; extra: Fields } {
  const { instructions, ref_audio, voice, ...extra } = extraFields(sample, target);
  const named = { instructions, ref_audio, voice };
  return {
    session: Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    extra,
  };
}

function sessionHead(target: Target, inputRateHz: number, turnDetection: Fields | null): Fields {
  return {
    model: target.model,
    modalities: ['audio', 'text'],
    input_audio_format: 'pcm16',
    output_audio_format: 'pcm16',
    sample_rate_hz: inputRateHz,
    audio: { input: { sample_rate_hz: inputRateHz }, output: { sample_rate_hz: outputRateHz } },
    turn_detection: turnDetection,
  };
}

/** Samples at the rate of a turn's session; empty where there is no reference, or one that only the server can read. */
function referenceSpeech(refAudio: unknown): Uint8Array {
  const payload = /^data:audio\/[\w.+-]+;base64,(.*)$/s.exec(asText(refAudio) ?? '')?.[1];
  if (payload === undefined) return new Uint8Array();
  const file = Buffer.from(payload, 'base64');
  const header = parseWavHeader(file, file.length);
  if (!header.ok || header.formatTag !== 1 || header.bitsPerSample !== 16 || header.channels !== 1)
    throw new UsageError(
      `--extra-body: ref_audio must be a mono WAV file of 16-bit samples to be sent as speech${header.ok ? '' : ` (${header.reason})`}.`,
    );
  const pcm = file.subarray(header.dataOffset, header.dataOffset + header.dataBytes - (header.dataBytes % 2));
  return resamplePcm(pcm, { sampleRateHz: header.sampleRateHz, channels: 1 }, outputRateHz);
}
