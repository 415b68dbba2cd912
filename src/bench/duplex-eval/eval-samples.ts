import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, isAbsolute, join } from 'node:path';
import {
  chooseSamples,
  type EvalRow,
  type EvalSample,
  evalRowOf,
  evalSplits,
  isChosen,
  manifestNames,
  readManifest,
  type SampleChoice,
  SampleNames,
} from '../../accuracy/duplex-eval/eval-sample.ts';
import { InputFileError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import { cacheFolder } from '../../workloads/cache-folder.ts';
import { parseDatasetReference } from '../../workloads/hub/dataset-reference.ts';
import { openRowSource, type RowSource } from '../../workloads/hub/row-source.ts';
import { sourceRows } from '../../workloads/hub/source-rows.ts';
import { writeWhole } from '../omniinteract/write-whole.ts';

export type EvalSamplesRequest = {
  /** A manifest, the folder that holds it, or a data set's id on the hub, with a revision or not. */
  readonly dataset: string;
  /** Folder below which relative paths lie; `null` = that of the manifest, or the hub. */
  readonly mediaRoot: string | null;
  readonly choice: SampleChoice;
};

export type EvalSamplesTools = {
  readonly env: Readonly<Record<string, string | undefined>>;
  note(line: string): void;
};

/**
 * The chosen samples of Omni-DuplexEval, with their media on this machine.
 * @throws InputFileError, UsageError where they can't be had, or none is chosen
 */
export async function evalSamples(
  request: EvalSamplesRequest,
  tools: EvalSamplesTools,
): Promise<EvalSample[]> {
  const { dataset, mediaRoot, choice } = request;
  if (existsSync(dataset) || parseDatasetReference(dataset) === null)
    return chooseSamples(readManifest(dataset, mediaRoot), choice);
  const samples: EvalSample[] = [];
  const media = new SampleMedia(mediaRoot, tools);
  const names = new SampleNames();
  for (const split of splitsOf(choice)) {
    if (samples.length >= (choice.limit ?? Number.POSITIVE_INFINITY)) break;
    await addSplit(samples, { request, split, media, names }, tools);
  }
  if (samples.length === 0) throw new InputFileError(`--dataset ${dataset}: no sample is chosen.`);
  return samples;
}

function splitsOf({ split, family }: SampleChoice): readonly string[] {
  if (split !== 'all') return [split];
  return evalSplits.filter((name) => family === 'all' || name.toLowerCase().startsWith(`${family}_`));
}

/** Rows come one by one, and media of those alone that are chosen: a video is megabytes. */
async function addSplit(
  samples: EvalSample[],
  of: {
    readonly request: EvalSamplesRequest;
    readonly split: string;
    readonly media: SampleMedia;
    readonly names: SampleNames;
  },
  { env, note }: EvalSamplesTools,
): Promise<void> {
  const { request, split, media, names } = of;
  const { limit, ...choice } = request.choice;
  let hasManifest = false;
  const source = await openRowSource(
    {
      from: request.dataset,
      part: { subset: null, split },
      pick: (files) => {
        const picked = manifestNames.filter((name) => files.includes(name)).slice(0, 1);
        hasManifest = picked.length > 0;
        return picked;
      },
    },
    { env, note, options: { name: 'omni-duplex-eval' } },
  );
  try {
    const order = { seed: 0, purpose: 'duplex-eval', shuffle: false, allFiles: false, wanted: 1 } as const;
    for await (const { row, problem, error } of sourceRows(source, order)) {
      if (problem !== undefined) throw problem;
      if (samples.length >= (limit ?? Number.POSITIVE_INFINITY)) return;
      const where = (await error('')).message.replace(/[:\s]+$/, '');
      // A manifest is of all splits, and says of each row which is its.
      const found = evalRowOf(row, where, hasManifest ? null : split);
      if (!isChosen(found, { ...choice, split, limit: null })) continue;
      names.take(found, where);
      samples.push(await media.placed(found, source, where));
    }
  } finally {
    await source.close();
  }
}

/** Puts media where programs can read them. */
class SampleMedia {
  readonly #mediaRoot: string | null;
  readonly #tools: EvalSamplesTools;
  #folder: string | null = null;

  constructor(mediaRoot: string | null, tools: EvalSamplesTools) {
    this.#mediaRoot = mediaRoot;
    this.#tools = tools;
  }

  async placed(
    { video, questionAudio, ...row }: EvalRow,
    source: RowSource,
    where: string,
  ): Promise<EvalSample> {
    return {
      ...row,
      videoPath: await this.#path(video, source, `${where}: video`),
      questionAudioPath:
        questionAudio === null ? null : await this.#path(questionAudio, source, `${where}: question_audio`),
    };
  }

  /** @param value bytes, `{bytes, path}` as Parquet has it, or the name of a file of the data set */
  async #path(value: unknown, source: RowSource, where: string): Promise<string> {
    const inside = typeof value === 'object' && value !== null && 'bytes' in value ? value.bytes : value;
    const named = typeof value === 'object' && value !== null && 'path' in value ? value.path : value;
    if (inside instanceof Uint8Array) return await this.#kept(inside, typeof named === 'string' ? named : '');
    if (typeof named !== 'string' || named === '')
      throw new InputFileError(`${where} holds neither bytes nor the name of a file.`);
    if (isAbsolute(named)) return named;
    return this.#mediaRoot === null ? await source.file(named) : join(this.#mediaRoot, named);
  }

  /** By its content, so that nothing is written twice. */
  async #kept(bytes: Uint8Array, name: string): Promise<string> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const path = join(this.#mediaFolder(), `${digest}${extname(name)}`);
    if (!existsSync(path)) await writeWhole(path, bytes);
    return path;
  }

  #mediaFolder(): string {
    if (this.#folder !== null) return this.#folder;
    const cache = cacheFolder(this.#tools.env, 'duplex-eval');
    const folder = cache ?? mkdtempSync(join(tmpdir(), 'omnimeter-duplex-eval-media-'));
    makeFolder(folder);
    this.#tools.note(`media of the data set are written to ${folder}, and stay there.`);
    this.#folder = folder;
    return folder;
  }
}
