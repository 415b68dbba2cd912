import { observeSpeech } from './duplex/observe-speech.ts';
import { prepareTurnSpeech } from './duplex/speech-request.ts';
import type { Endpoint } from './endpoint.ts';

/** Text to speech in turns over a WebSocket: one session for each text. */
export const openaiRealtimeTts: Endpoint = {
  name: 'openai-realtime-tts',
  doc: 'Speech in turns: one WebSocket session a text, /v1/realtime; a text item (and reference speech), response.create, audio out.',
  apiName: 'OpenAI Realtime API',
  defaultPath: '/v1/realtime',
  urlSuffixes: ['realtime', 'duplex'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  overWebSocket: true,
  traits: { name: 'openai-realtime-tts', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'speech' },
  prepare: prepareTurnSpeech,
  observe: (prepared, context) => observeSpeech(prepared, context),
};
