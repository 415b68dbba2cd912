import { messageOf } from '../../foundation/errors.ts';
import { probeClip } from '../../media/probe-clip.ts';
import { sniffMime } from '../../media/sniff-mime.ts';
import { inlinePart } from '../inline-media.ts';
import type { Row } from '../row-value.ts';
import type { HfOutcome, HfSet, HfTools } from './hf-set.ts';
import { rowBytes } from './row-media.ts';
import { plainSample } from './text-sample.ts';

/** What Whisper's decoder begins with; speech models that take no such prompt are not sent it. */
const whisperPrompt = '<|startoftranscript|><|en|><|transcribe|><|notimestamps|>';

async function sampleOf(row: Row, tools: HfTools): Promise<HfOutcome> {
  const found = await rowBytes(row.audio, 'audio', tools);
  if (typeof found === 'string') return found;
  let durationS: number | null;
  try {
    durationS = (await probeClip(Buffer.from(found.bytes))).durationS;
  } catch (cause) {
    return `"audio" has no length that can be read (${messageOf(cause)}). Fix the row or pass --skip-invalid.`;
  }
  const { min, max } = tools.context.options.hf.asrAudioLenS;
  if (durationS !== null && (durationS < min || durationS > (max ?? Number.POSITIVE_INFINITY)))
    return { leftOut: 'by their length' };
  const part = inlinePart('audio_url', sniffMime(found.bytes) ?? 'audio/wav', found.bytes);
  const sample = plainSample(whisperPrompt, tools.outputTokens ?? 128, tools, [part]);
  return durationS === null ? sample : { ...sample, inputAudioDurationS: durationS };
}

/** Recordings to be written down. */
export const speechRecognition: HfSet = {
  name: 'ASR',
  ids: [
    'openslr/librispeech_asr',
    'facebook/voxpopuli',
    'LIUM/tedlium',
    'edinburghcstr/ami',
    'speechcolab/gigaspeech',
    'kensho/spgispeech',
    'ArtificialAnalysis/Earnings22-Cleaned-AA',
    'D4nt3/esb-datasets-earnings22-validation-tiny-filtered',
  ],
  doc: 'A recording, for `--backend openai-audio`; those shorter or longer than `--asr-min-audio-len-sec` … `--asr-max-audio-len-sec` are left out.',
  subset: null,
  split: 'test',
  columns: ['audio'],
  media: 'audio_url',
  outputDoc: '128',
  sampleOf,
};
