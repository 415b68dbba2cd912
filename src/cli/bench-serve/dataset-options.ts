import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { Dataset, DatasetOptions } from '../../workloads/dataset.ts';
import { defaultMmBuckets, parseMmBuckets } from '../../workloads/mm-buckets.ts';
import type { benchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import type { FlagValues, JsonObject } from '../flags/flag.ts';
import { knownDatasets } from '../known-names.ts';
import { omniInteractOptions } from './omniinteract-options.ts';

/** What choosing a dataset needs to know of one. */
export type DatasetFacts = Pick<
  Dataset,
  'name' | 'doc' | 'flags' | 'hasRows' | 'isTimed' | 'meaningless' | 'defaults'
>;
export type DatasetCatalogue = Readonly<Record<string, DatasetFacts>>;

type Flags = FlagValues<typeof benchServeFlags>;

/**
 * The dataset as asked for; `--input-len` and `--output-len` win over a dataset's own lengths.
 * @throws UsageError for a dataset that is unknown or not available, and for a ratio out of range
 */
export function datasetOptions(
  flags: Flags,
  explicit: ReadonlySet<string>,
  datasets: DatasetCatalogue,
): DatasetOptions {
  checkDataset(flags['dataset-name'], datasets);
  const inputLen = flags['input-len'];
  const outputLen = flags['output-len'];
  return {
    name: flags['dataset-name'],
    path: flags['dataset-path'],
    disableShuffle: flags['disable-shuffle'],
    noOversample: flags['no-oversample'],
    skipChatTemplate: flags['skip-chat-template'],
    chatTemplateKwargs: flags['chat-template-kwargs'] ?? {},
    sharegptOutputLen: outputLen ?? flags['sharegpt-output-len'],
    customOutputLen: outputLen ?? flags['custom-output-len'],
    skipInvalid: flags['skip-invalid'],
    randomInputLen: inputLen ?? flags['random-input-len'],
    randomOutputLen: outputLen ?? flags['random-output-len'],
    randomPrefixLen: flags['random-prefix-len'],
    randomRangeRatio: rangeRatio(flags['random-range-ratio']),
    randomBatchSize: flags['random-batch-size'],
    noReranker: flags['no-reranker'],
    randomMm: randomMm(flags),
    enableMultimodalChat: flags['enable-multimodal-chat'],
    ensureClientSideData: flags['custom-ensure-client-side-data'],
    selfTimed: flags['self-timed'],
    ...baseOptions(flags, explicit),
    hf: hubOptions(flags),
    omniinteract: omniInteractOptions(flags),
  };
}

/** What the base tool's datasets with flags of their own are asked for. */
function baseOptions(flags: Flags, explicit: ReadonlySet<string>) {
  const outputLen = flags['output-len'];
  return {
    sonnet: {
      inputLen: flags['input-len'] ?? flags['sonnet-input-len'],
      outputLen: outputLen ?? flags['sonnet-output-len'],
      prefixLen: flags['sonnet-prefix-len'],
    },
    prefixRepetition: {
      prefixLen: flags['prefix-repetition-prefix-len'],
      suffixLen: flags['prefix-repetition-suffix-len'],
      numPrefixes: flags['prefix-repetition-num-prefixes'],
      outputLen: outputLen ?? flags['prefix-repetition-output-len'],
    },
    timedTrace: timedTrace(flags, explicit),
    specBench: {
      outputLen: outputLen ?? flags['spec-bench-output-len'],
      category: flags['spec-bench-category'],
    },
    speedBench: {
      subset: flags['speed-bench-dataset-subset'],
      outputLen: outputLen ?? flags['speed-bench-output-len'],
      category: flags['speed-bench-category'],
    },
  };
}

function timedTrace(flags: Flags, explicit: ReadonlySet<string>): DatasetOptions['timedTrace'] {
  const secMultiplier = flags['timed-trace-sec-multiplier'];
  if (!(secMultiplier > 0 && Number.isFinite(secMultiplier)))
    throw new UsageError(`--timed-trace-sec-multiplier is ${secMultiplier}, expected a number above 0.`);
  return {
    chunkHashSize: flags['timed-trace-chunk-hash-size'],
    secMultiplier,
    labels: {
      timestamp: flags['timed-trace-label-timestamp'],
      inputLength: flags['timed-trace-label-input-length'],
      outputLength: flags['timed-trace-label-output-length'],
      hashIds: flags['timed-trace-label-hash-ids'],
    },
    given: [...explicit].filter((name) => name.startsWith('timed-trace-')),
  };
}

function hubOptions(flags: Flags): DatasetOptions['hf'] {
  const distance = { min: flags['blazedit-min-distance'], max: flags['blazedit-max-distance'] };
  const audio = { min: flags['asr-min-audio-len-sec'], max: flags['asr-max-audio-len-sec'] };
  if (distance.min > distance.max)
    throw new UsageError(
      `--blazedit-min-distance ${distance.min} is above --blazedit-max-distance ${distance.max}.`,
    );
  if (audio.min > audio.max)
    throw new UsageError(
      `--asr-min-audio-len-sec ${audio.min} is above --asr-max-audio-len-sec ${audio.max}.`,
    );
  return {
    name: flags['hf-name'],
    subset: flags['hf-subset'],
    split: flags['hf-split'],
    outputLen: flags['output-len'] ?? flags['hf-output-len'],
    noStream: flags['no-stream'],
    blazeditDistance: distance,
    asrAudioLenS: { min: audio.min, max: Number.isFinite(audio.max) ? audio.max : null },
    bfclCategories: flags['bfcl-categories'] ?? ['simple', 'live_simple', 'multiple'],
  };
}

function randomMm(flags: Flags): DatasetOptions['randomMm'] {
  const buckets = flags['random-mm-bucket-config'];
  return {
    itemsPerRequest: flags['random-mm-base-items-per-request'],
    itemsRangeRatio: flags['random-mm-num-mm-items-range-ratio'],
    limits: flags['random-mm-limit-mm-per-prompt'] ?? { image: 255, video: 1 },
    buckets: buckets === null ? defaultMmBuckets : parseMmBuckets(buckets),
    videoEncoder: flags['random-mm-video-encoder'],
    audioMime: flags['random-mm-audio-mime'],
  };
}

function checkDataset(name: string, datasets: DatasetCatalogue): void {
  if (Object.hasOwn(datasets, name)) return;
  const available = `Available datasets: ${Object.keys(datasets).join(', ')}`;
  if (knownDatasets.includes(name))
    throw new UsageError(
      `--dataset-name ${name} is not available in this version of omnimeter.\n${available}`,
    );
  if (name === '')
    throw new UsageError(
      `Please specify '--dataset-name' and the corresponding '--dataset-path' if required.\n${available}`,
    );
  const nearest = nearestName(name, [...Object.keys(datasets), ...knownDatasets]);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(`Unknown dataset: ${name}.${slip}\n${available}`);
}

function rangeRatio(value: number | JsonObject): DatasetOptions['randomRangeRatio'] {
  if (typeof value === 'number') return { input: oneRatio(value), output: oneRatio(value) };
  const unknown = Object.keys(value).filter((key) => key !== 'input' && key !== 'output');
  if (unknown.length > 0)
    throw new UsageError(
      `--random-range-ratio: unknown member "${unknown[0]}". Expected a number, or {"input": r, "output": r}.`,
    );
  return { input: oneRatio(value.input ?? 0), output: oneRatio(value.output ?? 0) };
}

function oneRatio(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value < 1) return value;
  throw new UsageError(
    `--random-range-ratio: ${JSON.stringify(value)} is out of range. Expected 0 ≤ ratio < 1.`,
  );
}

/** @throws UsageError for 0 or less with a dataset that has no rows to take all of */
export function numPrompts(count: number, dataset: string, datasets: DatasetCatalogue): number {
  if (count > 0 || datasets[dataset]?.hasRows === true) return count;
  throw new UsageError(`--num-prompts must be at least 1 with --dataset-name ${dataset}, got ${count}.`);
}
