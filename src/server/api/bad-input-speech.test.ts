import { expect, test } from 'vitest';
import {
  aliveTest,
  type BadInput,
  badInputServers,
  form,
  png,
  refusalTests,
  statusTests,
  text,
  wav,
} from './bad-input.suite.ts';

/** Speech, voices and transcriptions. */

const servers = badInputServers('asr', 'image', 'omni', 'tts');

const cases: readonly BadInput[] = [
  ['speech of nothing', 'tts', '/v1/audio/speech', () => ({}), 400, /input/],
  ['speech of an empty text', 'tts', '/v1/audio/speech', () => ({ input: '' }), 400, /input/],
  [
    'speech of an omni model',
    'omni',
    '/v1/audio/speech',
    () => ({ input: 'a' }),
    400,
    /"modalities": \["audio"\]/,
  ],
  [
    'an unknown voice',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', voice: 'nobody' }),
    400,
    /Voices: aiden/,
  ],
  [
    'an unknown speech format',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', response_format: 'midi' }),
    400,
    /response_format/,
  ],
  ['speech too fast', 'tts', '/v1/audio/speech', () => ({ input: 'a', speed: 5 }), 400, /speed/],
  [
    'MP3, streamed',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', stream: true, response_format: 'mp3' }),
    400,
    /cannot be streamed/,
  ],
  [
    'fast speech, streamed',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', stream: true, speed: 2 }),
    400,
    /speed must be 1/,
  ],
  [
    'an unknown language',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', language: 'Klingon' }),
    400,
    /language/,
  ],
  [
    'a voice to clone that is missing',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', task_type: 'Base' }),
    400,
    /ref_audio/,
  ],
  [
    'a voice to clone that is a text',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', ref_audio: 'data:,x' }),
    400,
    /not a sound/,
  ],
  [
    'a voice to clone outside',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', ref_audio: 'file:///etc/passwd' }),
    400,
    /cannot be read/,
  ],
  [
    'speech of another model',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', model: 'x' }),
    404,
    /does not exist/,
  ],
  [
    'a voice without its sample',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', consent: 'y' }),
    400,
    /audio_sample/,
  ],
  [
    'a voice without consent',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', audio_sample: wav() }),
    400,
    /consent/,
  ],
  [
    'a voice with a path for a name',
    'tts',
    '/v1/audio/voices',
    () => form({ name: '../x', consent: 'y', audio_sample: wav() }),
    400,
    /name/,
  ],
  [
    'a voice that is a picture',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', consent: 'y', audio_sample: png() }),
    400,
    /not a sound/,
  ],
  [
    'a transcription of nothing',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ model: 'whisper-small' }),
    400,
    /'file' is required/,
  ],
  [
    'a transcription of a text',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: text() }),
    400,
    /not a sound/,
  ],
  [
    'a transcription as YAML',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: wav(), response_format: 'yaml' }),
    400,
    /response_format/,
  ],
  [
    'streamed subtitles',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: wav(), response_format: 'srt', stream: 'true' }),
    400,
    /json can be streamed/,
  ],
  [
    'a translation of another model',
    'asr',
    '/v1/audio/translations',
    () => form({ file: wav(), model: 'x' }),
    404,
    /does not exist/,
  ],
  [
    'a transcription by an image model',
    'image',
    '/v1/audio/transcriptions',
    () => form({ file: wav() }),
    400,
    /does not support/,
  ],
];

refusalTests(servers, cases);
statusTests(servers, [['GET', 'omni', '/v1/audio/voices', 400]]);

test('a voice that is not there, in the words of its route', async () => {
  const response = await fetch(`${servers.of('tts').url}/v1/audio/voices/x`, { method: 'DELETE' });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ success: false, error: "Voice 'x' not found" });
});

aliveTest(servers);
