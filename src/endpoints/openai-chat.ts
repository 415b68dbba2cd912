import { ChatReader } from './chat-reader.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest } from './endpoint.ts';
import { readReply } from './http-reply.ts';
import { observationOf } from './observation.ts';
import { pcmDefaults, replyAudioFormat } from './reply-audio.ts';
import { chatMessages, jsonRequest } from './request-parts.ts';

/** Chat completions as the base benchmark measures them: gaps between chunks, latency to the last choice. */
export const openaiChat: Endpoint = {
  name: 'openai-chat',
  doc: 'Chat completions, streamed: POST /v1/chat/completions with one user message.',
  apiName: 'OpenAI Chat Completions API',
  defaultPath: '/v1/chat/completions',
  urlSuffixes: ['chat/completions'],
  task: 'generation',
  prompts: 'messages',
  samplingParameters: true,
  traits: { name: 'openai-chat', itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },

  prepare(sample, target) {
    return jsonRequest(
      sample,
      target,
      {
        model: target.model,
        messages: chatMessages(sample, 'The chat API'),
        max_completion_tokens: sample.expectedOutputTokens ?? undefined,
        stream: target.stream,
        stream_options: target.stream ? { include_usage: true } : undefined,
      },
      { audioFormat: replyAudioFormat({ ...target.extraBody, ...sample.bodyOverrides }) },
    );
  },

  async observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
    const reader = new ChatReader({
      audioFormat: String(prepared.reading.audioFormat),
      pcm: pcmDefaults(process.env),
      stageTokens: false,
    });
    const result = await readReply(prepared, context, reader);
    const { tokens, source } = reader.output;
    return observationOf({
      attempts: [result.attempt],
      outcome: result.outcome,
      events: reader.events,
      facts: reader.facts,
      text: reader.text,
      outputTokens: tokens,
      outputTokensSource: source,
      audio: reader.audio,
      image: reader.image,
    });
  },
};
