import type { Sample } from '../workloads/sample.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { readReply } from './http-reply.ts';
import { asText } from './json-values.ts';
import { observationOf } from './observation.ts';
import { pcmDefaults } from './reply-audio.ts';
import { extraFields, jsonRequest, promptText, refuseMedia } from './request-parts.ts';
import { SpeechReader } from './speech-reader.ts';

function prepare(sample: Sample, target: Target): PreparedRequest {
  refuseMedia(sample, 'The speech API');
  const extra = extraFields(sample, target);
  const fields = {
    model: target.model,
    input: promptText(sample, 'The speech API'),
    // A reply that comes whole should say its own rate, which bare PCM does not.
    ...(target.stream
      ? { stream: true, stream_format: 'audio', response_format: 'pcm' }
      : { stream: false, response_format: 'wav' }),
  };
  const sent: Readonly<Record<string, unknown>> = { ...fields, ...extra };
  return jsonRequest(sample, target, fields, {
    format: asText(sent.response_format) ?? 'wav',
    streamed: sent.stream === true || typeof sent.stream_format === 'string',
  });
}

async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const reader = new SpeechReader({
    format: String(prepared.reading.format),
    streamed: prepared.reading.streamed === true,
    pcm: pcmDefaults(process.env),
  });
  const { attempt, outcome } = await readReply(prepared, context, reader);
  reader.finish(attempt.exchanges[0]?.endMs ?? null);
  return observationOf({
    attempts: [attempt],
    outcome,
    events: reader.events,
    facts: reader.facts,
    text: '',
    outputTokens: null,
    outputTokensSource: null,
    ...(reader.audio ? { audio: reader.audio } : {}),
  });
}

/** Text to speech. Latency and real-time factor end with the body; the first packet is the first read with samples. */
export const openaiAudioSpeech: Endpoint = {
  name: 'openai-audio-speech',
  doc: 'Text to speech, streamed: POST /v1/audio/speech; PCM, WAV, events, or an encoded format that is decoded after the reply.',
  apiName: 'OpenAI Audio Speech API',
  defaultPath: '/v1/audio/speech',
  urlSuffixes: ['audio/speech'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  traits: { name: 'openai-audio-speech', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'speech' },
  prepare,
  observe,
};
