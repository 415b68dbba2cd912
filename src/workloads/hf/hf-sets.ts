import { blazedit, humanEval, instructCoder, nextEdit } from './code.ts';
import { conversation, multimodalConversation } from './conversations.ts';
import { functionCalls } from './function-calls.ts';
import type { HfSet } from './hf-set.ts';
import { mmStar, mmvu, visionArena } from './pictures.ts';
import { aimo, gsm8k, mlperf, mtBench } from './questions.ts';
import { speechRecognition } from './speech-recognition.ts';

/** Every kind of data set that `--dataset-name hf` can turn into requests. Docs and errors follow from it. */
export const hfSets: readonly HfSet[] = [
  conversation,
  multimodalConversation,
  visionArena,
  mmvu,
  mmStar,
  instructCoder,
  mtBench,
  blazedit,
  aimo,
  nextEdit,
  mlperf,
  speechRecognition,
  humanEval,
  gsm8k,
  functionCalls,
];
