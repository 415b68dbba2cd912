import { UsageError } from '../foundation/errors.ts';
import type { PcmDefaults } from './announced-layout.ts';
import { asObject, asText } from './json-values.ts';

/**
 * The format that a chat reply's audio comes in: `response_format` of the extra body, else its `audio.format`, else
 * WAV, which is what omni servers send.
 * @throws UsageError for a raw format that says nothing of its own rate
 */
export function replyAudioFormat(extraBody: Readonly<Record<string, unknown>>): string {
  const responseFormat = asText(extraBody.response_format);
  if (responseFormat === 'pcm') {
    throw new UsageError(
      'pcm response format is not supported yet. Please use other formats like wav, mp3, etc. instead.',
    );
  }
  const format = responseFormat ?? asText(asObject(extraBody.audio)?.format) ?? 'wav';
  return format === 'pcm16' ? 'pcm' : format;
}

/** Rate and channels of PCM that no server word describes: the environment, else 24 kHz mono. */
export function pcmDefaults(env: Readonly<Record<string, string | undefined>>): PcmDefaults {
  const whole = (name: string, fallback: number): number => {
    const value = Number(env[name]);
    return Number.isInteger(value) && value >= 1 ? value : fallback;
  };
  return {
    sampleRateHz: whole('VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE', 24_000),
    channels: whole('VLLM_OMNI_BENCH_AUDIO_CHANNELS', 1),
  };
}
