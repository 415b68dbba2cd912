import type { AudioFormat } from '../../media/encode-audio.ts';
import type { SpeechRequest, SpeechSession } from '../../protocol/speech.ts';
import type { SpeechTask } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import { referenceFromUrl } from './media-reference.ts';
import { stageIdsGiving, stagesGiving } from './model-routes.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';
import type { VoiceStore } from './voice-store.ts';

/** How the reply comes: a whole file, bare bytes as they are made, or events. */
export type SpeechDelivery = 'whole' | 'bytes' | 'events';

/** What a request for speech comes down to. */
export type SpeechPlan = {
  readonly model: string | null;
  readonly run: RunRequest;
  readonly format: AudioFormat;
  readonly delivery: SpeechDelivery;
  readonly textTokens: number;
  /** Codec frames of the voice to clone. */
  readonly referenceTokens: number;
  /** Of the model, before the first chunk has said so. */
  readonly sampleRateHz: number;
};

const defaultSampleRateHz = 24000;
/** Codec frames per second of reference audio. */
const codecFramesPerS = 12.5;
const streamableFormats: readonly AudioFormat[] = ['pcm', 'wav'];

/** Rate of the model's sound. */
export function speechRateHz(context: ApiContext): number {
  const [stage] = stagesGiving(context, 'audio');
  return stage?.executionType === 'LLM_GENERATION' ? stage.laws.speech.sampleRateHz : defaultSampleRateHz;
}

function deliveryOf({ stream, stream_format: streamFormat }: SpeechRequest): SpeechDelivery {
  if (streamFormat === 'audio') return 'bytes';
  return streamFormat === 'sse' || stream === true ? 'events' : 'whole';
}

/** @throws RequestError 400 for a voice that the model has not */
function voiceOf(request: SpeechSession, context: ApiContext, voices: VoiceStore): string | null {
  const { voice } = request;
  if (voice === null || voice === undefined) return null;
  const name = typeof voice === 'string' ? voice : voice.id;
  const known = voices.names();
  if (context.pipeline.voices === null || known.includes(name.toLowerCase())) return name.toLowerCase();
  throw new RequestError(400, `Voice "${name}" is not known. Voices: ${known.join(', ')}.`, 'voice');
}

/** Length of the voice to clone, s. @throws RequestError 400 */
async function referenceLengthS(
  request: SpeechSession,
  voice: string | null,
  context: ApiContext,
  voices: VoiceStore,
): Promise<number | null> {
  const { ref_audio: url, task_type: task } = request;
  if (url !== null && url !== undefined) {
    const { durationS } = await referenceFromUrl('audio', url, 'ref_audio', context);
    return durationS;
  }
  const uploaded = voice === null ? null : voices.durationS(voice);
  if (uploaded !== null) return uploaded;
  if (task === 'Base')
    throw new RequestError(400, 'task_type Base needs a voice to clone: send ref_audio.', 'ref_audio');
  return null;
}

/** What a text is spoken as. @throws RequestError 400 for what is malformed or not supported */
export async function speechRun(
  text: string,
  request: SpeechSession,
  context: ApiContext,
  voices: VoiceStore,
): Promise<{ readonly run: RunRequest; readonly textTokens: number; readonly referenceTokens: number }> {
  const voice = voiceOf(request, context, voices);
  if (request.task_type === 'VoiceDesign' && (request.instructions ?? '') === '')
    throw new RequestError(400, 'task_type VoiceDesign needs instructions.', 'instructions');
  const referenceAudioS = await referenceLengthS(request, voice, context, voices);
  const { maxModelLen } = context.pipeline;
  const textTokens = await countPromptTokens(text, context.countTokens, maxModelLen);
  const referenceTokens = Math.round((referenceAudioS ?? 0) * codecFramesPerS);
  checkContext(textTokens + referenceTokens, 0, maxModelLen);
  const task: SpeechTask = { kind: 'speech', text, voice, speed: request.speed ?? 1, referenceAudioS };
  const sampling = {
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request.top_k,
    seed: request.seed,
    ignore_eos: request.ignore_eos,
    max_tokens: request.max_new_tokens,
  };
  return {
    textTokens,
    referenceTokens,
    run: {
      promptTokens: textTokens + referenceTokens,
      finalStageIds: stageIdsGiving(context, 'audio'),
      params: paramsOfStages(context.pipeline, sampling, null),
      initialChunkFrames: request.initial_codec_chunk_frames ?? null,
      keepGaps: false,
      task,
      source: { route: '/v1/audio/speech', body: { ...request, input: text } },
    },
  };
}

/**
 * Reads a request for speech.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planSpeech(
  request: SpeechRequest,
  context: ApiContext,
  voices: VoiceStore,
): Promise<SpeechPlan> {
  checkModel(request.model, context);
  const delivery = deliveryOf(request);
  const format = request.response_format ?? 'wav';
  if (delivery !== 'whole' && !streamableFormats.includes(format))
    throw new RequestError(
      400,
      `response_format "${format}" cannot be streamed; use ${streamableFormats.join(' or ')}.`,
      'response_format',
    );
  if (delivery !== 'whole' && (request.speed ?? 1) !== 1)
    throw new RequestError(400, 'speed must be 1.0 when speech is streamed.', 'speed');
  const spoken = await speechRun(request.input, request, context, voices);
  return {
    model: request.model ?? null,
    ...spoken,
    format,
    delivery,
    sampleRateHz: speechRateHz(context),
  };
}
