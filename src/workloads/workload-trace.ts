import { InputFileError, UsageError } from '../foundation/errors.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { DatasetRowError, type EntryFile, openEntryFile } from './entry-file.ts';
import { urlPart } from './inline-media.ts';
import { checkRequestIds } from './oversample.ts';
import { knownSum } from './random-batches.ts';
import { jsonlPath } from './row-samples.ts';
import { isRow, type Row } from './row-value.ts';
import type { ContentPart, Sample } from './sample.ts';
import { parseTraceRow, type TraceRow } from './trace-row.ts';

const form =
  'one JSON object per line with "body", the body of a request, and optionally "timestamp" (s), "headers", "request_id" and "completion_tokens"';

type Recorded = TraceRow & { readonly index: number };

/** Every row but its body, in the order of the file. */
async function recordedRows(file: EntryFile, { options, note, progress }: LoadContext): Promise<Recorded[]> {
  const rows: Recorded[] = [];
  for (let index = 0; index < file.count; index += 1) {
    try {
      const row = parseTraceRow(await file.read(index));
      if (typeof row === 'string') throw await file.error(index, row);
      rows.push({ ...row, index });
    } catch (error) {
      if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
    }
    if (index % 100 === 99) progress(index + 1, file.count);
  }
  const invalid = file.count - rows.length;
  if (invalid > 0)
    note(`workload_trace: ${invalid} of ${file.count} rows were left out, because they do not parse.`);
  return rows;
}

/**
 * Whether the trace's times are kept.
 * @throws UsageError where they must be and are not all known
 */
function isTimed(
  rows: readonly Recorded[],
  selfTimed: boolean | null,
  note: (line: string) => void,
): boolean {
  const missing = rows.filter(({ timestampS }) => timestampS === null).length;
  if (selfTimed === false || missing === 0) return selfTimed !== false;
  if (selfTimed === true)
    throw new UsageError(
      `--self-timed needs a "timestamp" in every row, and ${missing} of ${rows.length} have none.`,
    );
  if (missing < rows.length)
    note(
      `workload_trace: ${missing} of ${rows.length} rows have no "timestamp", so requests are sent at the request rate.`,
    );
  return false;
}

/** Fields of a body that name media, for APIs that take them as files of a form. */
const mediaFields = [
  ['image', 'image_url'],
  ['file', 'audio_url'],
] as const;

function mediaOf(body: Row): ContentPart[] {
  return mediaFields.flatMap(([field, kind]) => {
    const value = body[field];
    const references = Array.isArray(value) ? value : [value];
    return references.flatMap((each) => {
      const url = isRow(each) ? each.url : each;
      return typeof url === 'string' ? [urlPart(kind, url)] : [];
    });
  });
}

function bodyOf(entry: unknown): Row {
  return isRow(entry) && isRow(entry.body) ? entry.body : {};
}

/** Reads bodies again when they are needed, and keeps the last: an endpoint looks at one several times in a row. */
function bodyReader(file: EntryFile): (index: number) => Row {
  let last: { readonly index: number; readonly body: Row } | null = null;
  return (index) => {
    if (last?.index !== index) last = { index, body: bodyOf(file.again(index)()) };
    return last.body;
  };
}

/** A sample whose body is read from the file when it is needed: a trace of media may be larger than memory. */
function sampleOf(
  row: Recorded,
  bodyAt: (index: number) => Row,
  { tokenizer }: LoadContext,
  startS: number | null,
): Sample {
  const counts = [row.prompt]
    .flat()
    .map((text) => tokenizer?.count(text, { addSpecialTokens: true }) ?? null);
  return {
    prompt: row.prompt,
    promptTokens: row.prompt === '' ? null : knownSum(counts),
    expectedOutputTokens: row.completionTokens,
    get media() {
      return mediaOf(bodyAt(row.index));
    },
    get recordedBody() {
      return bodyAt(row.index);
    },
    get bodyOverrides() {
      return bodyAt(row.index);
    },
    headers: row.headers,
    requestId: row.requestId,
    ...(startS === null || row.timestampS === null ? {} : { traceTimestampS: row.timestampS - startS }),
  };
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, numPrompts, requestIdPrefix, note } = context;
  const path = jsonlPath(context, form, 'workload_trace');
  const file = await openEntryFile(path);
  try {
    const rows = await recordedRows(file, context);
    if (rows.length === 0) throw new InputFileError(`${path}: no row to send. Expected ${form}.`);
    const timed = isTimed(rows, options.selfTimed, note);
    const ordered = timed ? rows.sort((a, b) => (a.timestampS ?? 0) - (b.timestampS ?? 0)) : rows;
    const taken = numPrompts > 0 ? ordered.slice(0, numPrompts) : ordered;
    if (numPrompts > rows.length)
      note(`workload_trace: ${rows.length} requests instead of ${numPrompts}, for that is all there are.`);
    const startS = timed ? (taken[0]?.timestampS ?? null) : null;
    const bodyAt = bodyReader(file);
    const samples = taken.map((row, position) => {
      const requestId = row.requestId ?? `${requestIdPrefix}${position}`;
      return sampleOf({ ...row, requestId }, bodyAt, context, startS);
    });
    checkRequestIds(samples);
    return samples;
  } finally {
    await file.close();
  }
}

/** Requests as they were recorded, at their times. */
export const workloadTrace: Dataset = {
  name: 'workload_trace',
  doc: 'Recorded requests, sent as they were and when they were: JSONL with "body" and optionally "timestamp", "headers", "request_id" per line.',
  flags: ['dataset-path', 'skip-invalid', 'self-timed'],
  hasRows: true,
  load,
};
