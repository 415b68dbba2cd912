import type { Attempt } from '../records/request-record.ts';
import type { Sample } from '../workloads/sample.ts';
import { ChatReader } from './chat-reader.ts';
import type {
  Endpoint,
  Observation,
  ObserveContext,
  PreparedRequest,
  StageMetricsNeed,
  Target,
} from './endpoint.ts';
import { readReply } from './http-reply.ts';
import { observationOf } from './observation.ts';
import { pause } from './pause.ts';
import { pcmDefaults, replyAudioFormat } from './reply-audio.ts';
import { chatMessages, jsonRequest } from './request-parts.ts';

const maxRetries = 3;
const retryPauseMs = 100;

/**
 * Sends until a reply begins, at most three times more. Only a connection that failed before a single byte of the
 * reply was seen is tried again; each try stays in the record.
 */
async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const attempts: Attempt[] = [];
  for (;;) {
    const reader = new ChatReader({
      audioFormat: String(prepared.reading.audioFormat),
      pcm: pcmDefaults(process.env),
      stageTokens: true,
    });
    const result = await readReply(prepared, context, reader);
    attempts.push(result.attempt);
    if (result.retryable && attempts.length <= maxRetries && !context.stop.stopped) {
      await pause(retryPauseMs, context.stop);
      continue;
    }
    const { tokens, source } = reader.output;
    return observationOf({
      attempts,
      outcome: result.outcome,
      events: reader.events,
      facts: reader.facts,
      text: reader.text,
      outputTokens: tokens,
      outputTokensSource: source,
      audio: reader.audio,
      image: reader.image,
    });
  }
}

function prepare(sample: Sample, target: Target): PreparedRequest {
  return jsonRequest(
    sample,
    target,
    {
      model: target.model,
      messages: chatMessages(sample, 'The chat API'),
      temperature: 0.0,
      max_tokens: sample.expectedOutputTokens ?? undefined,
      stream: target.stream,
      stream_options: target.stream ? { include_usage: true, continuous_usage_stats: true } : undefined,
    },
    { audioFormat: replyAudioFormat({ ...target.extraBody, ...sample.bodyOverrides }) },
  );
}

/** The text stage's token timings may have to stand in for the client's, and images are sized by their stage. */
function wantsStageMetrics({ percentileMetrics, extraBody }: StageMetricsNeed): boolean {
  const modalities = extraBody.modalities;
  const images = Array.isArray(modalities) && modalities.includes('image');
  return images || percentileMetrics.includes('tpot') || percentileMetrics.includes('itl');
}

function omniChat(name: string): Endpoint {
  return {
    name,
    doc: 'Omni chat completions, streamed: text, speech (WAV chunks) and images of one reply, usage on every chunk, stage metrics.',
    apiName: 'OpenAI Chat Completions API',
    defaultPath: '/v1/chat/completions',
    urlSuffixes: ['chat/completions'],
    task: 'generation',
    prompts: 'messages',
    samplingParameters: true,
    traits: { name, itl: 'token_split', latencyEnd: 'last_message', output: 'text' },
    wantsStageMetrics,
    prepare,
    observe,
  };
}

export const openaiChatOmni = omniChat('openai-chat-omni');
/** The same dialect under the name of the dataset that it was first used with. */
export const dailyOmni = omniChat('daily-omni');
