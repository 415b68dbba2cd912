import type { Endpoint } from './endpoint.ts';
import { imagesEdits, openaiImageEditsOmni } from './images-edits.ts';
import { imagesGenerations } from './images-generations.ts';
import { openaiAudioSpeech } from './openai-audio-speech.ts';
import { openaiChat } from './openai-chat.ts';
import { dailyOmni, openaiChatOmni } from './openai-chat-omni.ts';
import { openaiCompletions, vllmCompletions } from './openai-completions.ts';

import { videos } from './videos.ts';

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
} satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** The adapter of a name, or `undefined`. */
export function endpointNamed(name: string): Endpoint | undefined {
  return Object.hasOwn(endpoints, name) ? endpoints[name as EndpointName] : undefined;
}
