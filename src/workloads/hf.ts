import { stat } from 'node:fs/promises';
import { UsageError } from '../foundation/errors.ts';
import { nearestName } from '../foundation/nearest-name.ts';
import { templateFor } from './category-prompts.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import type { HfSet, HfTools } from './hf/hf-set.ts';
import { hfSets } from './hf/hf-sets.ts';
import { parseDatasetReference } from './hub/dataset-reference.ts';
import { openRowSource } from './hub/row-source.ts';
import { inlinePart } from './inline-media.ts';
import { asMultimodalChat } from './multimodal-chat.ts';
import { isRow, wrongField } from './row-value.ts';
import type { Sample } from './sample.ts';
import { sourceSamples } from './source-samples.ts';

const ids = hfSets.flatMap((set) => set.ids);

/** The kind of data set by its id. */
function setOf(id: string): HfSet {
  const name = id.toLowerCase();
  const found = hfSets.find((set) => set.ids.some((known) => known.toLowerCase() === name));
  if (found !== undefined) return found;
  const nearest = nearestName(id, ids);
  throw new UsageError(
    `Unsupported dataset path: ${id}.${nearest === null ? '' : ` Did you mean ${nearest}?`} Huggingface dataset only ` +
      `supports one of: ${ids.join(', ')}. For rows of another form, --dataset-name custom takes JSONL with "prompt".`,
  );
}

async function isHere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** Which data set, and where its rows are. */
async function chosen({ options }: LoadContext): Promise<{ set: HfSet; from: string }> {
  const { path, hf } = options;
  const from = path ?? hf.name;
  if (from === null)
    throw new UsageError(
      '--dataset-name hf needs --dataset-path: a data set’s id on the hub, org/name, or a file or folder with ' +
        '--hf-name for which data set it is of.',
    );
  if (hf.name !== null) return { set: setOf(hf.name), from };
  const reference = parseDatasetReference(from);
  if (reference !== null && !(await isHere(from))) return { set: setOf(reference.id), from };
  throw new UsageError(
    `--dataset-path ${from} is a place on this machine, so --hf-name must say which data set it is of: ${ids.join(', ')}.`,
  );
}

/** The endpoint is asked before anything is fetched whether it can express such a sample. */
function tryOut(set: HfSet, { tryOut: ask, options }: LoadContext): void {
  if (set.media === undefined || ask === undefined) return;
  const part = inlinePart(
    set.media,
    set.media === 'audio_url' ? 'audio/wav' : 'image/jpeg',
    new Uint8Array(4),
  );
  const sample: Sample = {
    prompt: 'x',
    promptTokens: 1,
    expectedOutputTokens: 1,
    media: [part],
    requestId: null,
  };
  ask(asMultimodalChat(sample, options));
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options } = context;
  const { set, from } = await chosen(context);
  tryOut(set, context);
  const source = await openRowSource(
    {
      from,
      part: { subset: options.hf.subset ?? set.subset, split: options.hf.split ?? set.split },
      ...(set.pick === undefined ? {} : { pick: (files) => set.pick?.(files, context) ?? [] }),
    },
    context,
  );
  const tools: HfTools = {
    context,
    template: set.isTurn ? templateFor(context) : { apply: null, reason: null },
    outputTokens: options.hf.outputLen,
    file: (name) => source.file(name),
  };
  try {
    return await sourceSamples(
      source,
      {
        ...(set.columns === undefined ? {} : { columns: set.columns }),
        ...(set.interleave === undefined ? {} : { interleave: set.interleave }),
        sampleOf: async (row) => {
          if (!isRow(row)) return wrongField('row', row, 'an object');
          const outcome = await set.sampleOf(row, tools);
          if (typeof outcome === 'string' || 'leftOut' in outcome) return outcome;
          return asMultimodalChat(outcome, options);
        },
      },
      context,
    );
  } finally {
    await source.close();
  }
}

/** Data sets of the hub that are known by their ids. */
export const hf: Dataset = {
  name: 'hf',
  doc: 'Data sets of the hub by their ids (VisionArena, MMVU, MT-Bench, InstructCoder, LibriSpeech and others), fetched, or from files of yours.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'hf-name',
    'hf-subset',
    'hf-split',
    'hf-output-len',
    'no-stream',
    'blazedit-min-distance',
    'blazedit-max-distance',
    'asr-min-audio-len-sec',
    'asr-max-audio-len-sec',
    'bfcl-categories',
    'enable-multimodal-chat',
    'skip-chat-template',
    'chat-template-kwargs',
  ],
  hasRows: true,
  load,
};
