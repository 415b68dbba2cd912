import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isFileName } from '../../foundation/file-name.ts';
import { parseJsonValues } from '../../foundation/tolerant-json.ts';
import { isFolder, isThere } from '../../workloads/omniinteract/dataset-files.ts';
import { isRow, type Row, secondsOf, textOf } from '../omniinteract/annotation-values.ts';

/** Description while the video runs, or reminding when something has happened. */
export type EvalFamily = 'rtd' | 'pr';

/** One video with its question, and what is to be said of it. */
export type EvalSample = {
  readonly id: string;
  readonly split: string;
  readonly family: EvalFamily;
  readonly taskType: string;
  readonly videoPath: string;
  /** `null` = the manifest names none; it takes one to ask the question. */
  readonly questionAudioPath: string | null;
  readonly questionText: string;
  /** What is to be said, one or two texts. */
  readonly answers: readonly string[];
  /** When it is to be said, s, by the place of the answer; `null` = the manifest does not say, or not readably. */
  readonly remindersS: readonly (number | null)[];
  /** `null` = the manifest does not say. */
  readonly durationS: number | null;
};

const splitTasks: Readonly<Record<string, string>> = {
  PR_correction: 'correction',
  PR_event_reminder: 'proactive_reminder',
  PR_post_event_reminder: 'post_event_reminder',
};
const taskNames: Readonly<Record<string, string>> = { event_reminder: 'proactive_reminder' };
export const manifestNames = ['manifest.jsonl', 'manifest.json', 'data.jsonl', 'data.json'];

/** The splits of the published dataset, sorted. */
export const evalSplits = [
  'PR_correction',
  'PR_event_reminder',
  'PR_post_event_reminder',
  'RTD_OCR',
  'RTD_Omni',
  'RTD_counting',
  'RTD_fine_grained_movement',
  'RTD_interaction_relation',
  'RTD_world_knowledge',
] as const;

/** A sample with its media as the row names or holds them. */
export type EvalRow = Omit<EvalSample, 'videoPath' | 'questionAudioPath'> & {
  readonly video: unknown;
  /** `null` = the row has none. */
  readonly questionAudio: unknown;
};

/** Which samples of a manifest are meant. */
export type SampleChoice = {
  readonly split: string;
  readonly family: 'all' | EvalFamily;
  readonly ids: readonly string[];
  /** `null` = all. */
  readonly limit: number | null;
};

/**
 * Reads a manifest of Omni-DuplexEval: JSON (a list, or an object with `data` or `samples`) or JSONL, or a folder that
 * holds one.
 * @param mediaRoot folder below which relative paths lie; `null` = that of the manifest
 * @throws InputFileError
 */
export function readManifest(dataset: string, mediaRoot: string | null): EvalSample[] {
  const path = manifestPath(dataset);
  const root = mediaRoot ?? dirname(path);
  let rows: { value: unknown; line: number | null }[];
  try {
    rows = parseJsonValues(readFileSync(path, 'utf8')).flatMap(rowsOfValue);
  } catch (cause) {
    throw new InputFileError(`${path}: the manifest cannot be read: ${messageOf(cause)}`, { cause });
  }
  const names = new SampleNames();
  return rows.map(({ value, line }, i) => {
    const where = line === null ? `${path}: row ${i + 1}` : `${path}:${line}`;
    const { video, questionAudio, ...row } = evalRowOf(value, where);
    names.take(row, where);
    const placed = (named: unknown, what: string): string => {
      const name = textOf(named);
      if (name === '') throw new InputFileError(`${where}: ${what} must be the path of a file.`);
      return isAbsolute(name) ? name : join(root, name);
    };
    return {
      ...row,
      videoPath: placed(video, 'video'),
      questionAudioPath: questionAudio === null ? null : placed(questionAudio, 'question_audio'),
    };
  });
}

/** The samples' names that are taken. A response and a score are files of that name: two would be one. */
export class SampleNames {
  readonly #taken = new Map<string, string>();

  /** @throws InputFileError where another sample has it */
  take({ split, id }: Pick<EvalSample, 'split' | 'id'>, where: string): void {
    const name = `${split}/${id}`;
    const before = this.#taken.get(name);
    if (before !== undefined)
      throw new InputFileError(
        `${where}: split '${split}' has a sample '${id}' already, in ${before}. Each sample needs a name of its own; remove one, or rename it.`,
      );
    this.#taken.set(name, where);
  }
}

function manifestPath(dataset: string): string {
  const found = isThere(dataset);
  const path = isFolder(dataset)
    ? manifestNames.map((name) => join(dataset, name)).find((name) => isThere(name))
    : dataset;
  if (found && path !== undefined) return path;
  throw new InputFileError(
    found
      ? `--dataset ${dataset}: the folder holds no ${manifestNames.join(', ')}.`
      : `--dataset ${dataset}: there is no such file or folder, and it is not a data set's id of the form org/name or org/name@revision.`,
  );
}

function rowsOfValue({ value, line }: { value: unknown; line: number | null }) {
  const list = isRow(value) ? (value.data ?? value.samples ?? value) : value;
  return Array.isArray(list)
    ? list.map((each: unknown) => ({ value: each, line: null }))
    : [{ value: list as unknown, line }];
}

/** The first of a row's fields that holds something. */
function field(row: Row, ...names: readonly string[]): unknown {
  return names
    .map((name) => row[name])
    .find((value) => value !== undefined && value !== null && value !== '');
}

/**
 * A row under whichever of its usual names a field has.
 * @param where how messages call it
 * @param knownSplit the split that it was read from, if that is known
 * @throws InputFileError
 */
export function evalRowOf(value: unknown, where: string, knownSplit: string | null = null): EvalRow {
  if (!isRow(value)) throw new InputFileError(`${where}: a row must be an object.`);
  const text = (...names: readonly string[]): string => textOf(field(value, ...names));
  const id = text('id', 'sample_id', 'uid', 'name');
  const split = knownSplit ?? text('split', 'subset', 'config');
  const video = field(value, 'video', 'video_path', 'video_file');
  if (id === '' || split === '' || video === undefined)
    throw new InputFileError(
      `${where}: a row needs id, split and video; it has ${Object.keys(value).join(', ') || 'nothing'}.`,
    );
  if (!isFileName(id) || !isFileName(split))
    throw new InputFileError(
      `${where}: id '${quoted(id)}' or split '${quoted(split)}' is no name of a file.`,
    );
  // Beside `<split>/<id>.json` there are `<split>/<id>.meta.json`, and files of all splits in the root.
  if (/\.meta$/i.test(id) || /\.json$/i.test(split))
    throw new InputFileError(
      `${where}: an id must not end in .meta, nor a split in .json, as files beside the samples' do; they are '${id}' and '${split}'. Rename it.`,
    );
  const task = text('task_type', 'task', 'type') || splitTasks[split] || split.replace(/^(RTD|PR)_/i, '');
  return {
    id,
    split,
    family: familyOf(text('family').toLowerCase(), split, where),
    taskType: taskNames[task] ?? task,
    video,
    questionAudio: field(value, 'question_audio', 'audio', 'question_wav') ?? null,
    questionText: text('question_text', 'question', 'instruction'),
    answers: [text('answer1', 'answer', 'ground_answer'), text('answer2')],
    remindersS: [
      secondsOf(field(value, 'reminder1', 'reminder_1')),
      secondsOf(field(value, 'reminder2', 'reminder_2')),
    ],
    durationS: secondsOf(field(value, 'video_duration', 'duration')),
  };
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function familyOf(named: string, split: string, where: string): EvalFamily {
  const family = named === '' ? (split.split('_')[0] ?? '').toLowerCase() : named;
  if (family === 'rtd' || family === 'pr') return family;
  throw new InputFileError(`${where}: neither family nor split '${split}' says whether this is RTD or PR.`);
}

/** Whether a sample is one of those, but for their number. */
export function isChosen(
  sample: Pick<EvalSample, 'id' | 'split' | 'family'>,
  { split, family, ids }: SampleChoice,
): boolean {
  return (
    (split === 'all' || sample.split === split) &&
    (family === 'all' || sample.family === family) &&
    (ids.length === 0 || ids.includes(sample.id))
  );
}

/**
 * The samples that were chosen, in the manifest's order.
 * @throws InputFileError where there is none
 */
export function chooseSamples(samples: readonly EvalSample[], choice: SampleChoice): EvalSample[] {
  const { limit } = choice;
  const chosen = samples.filter((sample) => isChosen(sample, choice));
  if (chosen.length === 0) {
    const splits = [...new Set(samples.map((sample) => sample.split))];
    throw new InputFileError(`no sample is chosen. Splits of the manifest: ${splits.join(', ')}.`);
  }
  return limit === null ? chosen : chosen.slice(0, limit);
}
