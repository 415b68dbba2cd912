import type { Endpoint } from './endpoint.ts';
import { imagesEdits, openaiImageEditsOmni } from './images-edits.ts';
import { imagesGenerations } from './images-generations.ts';
import { infinityEmbeddings, infinityEmbeddingsClip } from './infinity-embeddings.ts';
import { openaiAudio } from './openai-audio.ts';
import { openaiAudioSpeech } from './openai-audio-speech.ts';
import { openaiChat } from './openai-chat.ts';
import { dailyOmni, openaiChatOmni } from './openai-chat-omni.ts';
import { openaiCompletions, vllmCompletions } from './openai-completions.ts';
import { openaiEmbeddings } from './openai-embeddings.ts';
import { openaiEmbeddingsChat } from './openai-embeddings-chat.ts';
import { openaiEmbeddingsClip } from './openai-embeddings-clip.ts';
import { openaiEmbeddingsVlm2vec } from './openai-embeddings-vlm2vec.ts';
import { openaiRealtimeDuplex } from './openai-realtime-duplex.ts';
import { openaiRealtimeTts } from './openai-realtime-tts.ts';
import { openaiResponses } from './openai-responses.ts';
import { videos } from './videos.ts';
import { vllmPooling } from './vllm-pooling.ts';
import { vllmRerank } from './vllm-rerank.ts';

/** Every API dialect by the name that `--backend` takes. Help, validation and docs follow from it. */
export const endpoints = {
  openai: openaiCompletions,
  vllm: vllmCompletions,
  'openai-chat': openaiChat,
  'openai-chat-omni': openaiChatOmni,
  'daily-omni': dailyOmni,
  'openai-audio-speech': openaiAudioSpeech,
  '/v1/images/generations': imagesGenerations,
  '/v1/images/edits': imagesEdits,
  'openai-image-edits-omni': openaiImageEditsOmni,
  '/v1/videos': videos,
  'openai-audio': openaiAudio,
  'openai-responses': openaiResponses,
  'openai-realtime-duplex': openaiRealtimeDuplex,
  'openai-realtime-tts': openaiRealtimeTts,
  'openai-embeddings': openaiEmbeddings,
  'openai-embeddings-chat': openaiEmbeddingsChat,
  'openai-embeddings-clip': openaiEmbeddingsClip,
  'openai-embeddings-vlm2vec': openaiEmbeddingsVlm2vec,
  'infinity-embeddings': infinityEmbeddings,
  'infinity-embeddings-clip': infinityEmbeddingsClip,
  'vllm-pooling': vllmPooling,
  'vllm-rerank': vllmRerank,
} satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** The adapter of a name, or `undefined`. */
export function endpointNamed(name: string): Endpoint | undefined {
  return Object.hasOwn(endpoints, name) ? endpoints[name as EndpointName] : undefined;
}
