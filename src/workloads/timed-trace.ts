import { InputFileError, UsageError } from '../foundation/errors.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import type { Sample } from './sample.ts';
import { readTimedTrace, type TimedTrace, type TimedTraceRow } from './timed-trace-rows.ts';
import { type ChunkTexts, chunkTexts } from './trace-chunks.ts';

const form =
  'a .jsonl of {"timestamp", "input_length", "output_length", "hash_ids"} (Mooncake, Bailian), or a .csv with TIMESTAMP, ContextTokens and GeneratedTokens (Azure)';

/** Prompts whose tokens are really counted; the others are known to be made the same way. */
const countedPrompts = 20;
/** Traces are minutes to a few hours; longer ones had their unit mistaken. */
const longestTraceS = 2 * 86_400;

/** How many tokens of each chunk a prompt has: all, and the last what is left of the input length. */
function chunkTokens({ inputTokens, hashIds }: TimedTraceRow, chunkSize: number): number[] {
  return (hashIds ?? []).map((_, index) => Math.max(0, Math.min(chunkSize, inputTokens - index * chunkSize)));
}

function promptText(row: TimedTraceRow, index: number, tools: Tools): string {
  if (row.hashIds === null) return tools.chunks.text(`request-${index}`, row.inputTokens);
  const tokens = chunkTokens(row, tools.chunkSize);
  return row.hashIds.map((id, at) => tools.chunks.text(id, tokens[at] ?? 0)).join('');
}

function promptTokens(row: TimedTraceRow, chunkSize: number): number {
  if (row.hashIds === null) return row.inputTokens;
  return chunkTokens(row, chunkSize).reduce((sum, tokens) => sum + tokens, 0);
}

type Tools = { readonly chunks: ChunkTexts; readonly chunkSize: number };

/** The power of two that explains most rows' number of hashes. */
function fittingChunkSize(rows: readonly TimedTraceRow[]): { size: number; rows: number } {
  let best = { size: 0, rows: 0 };
  for (let size = 1; size <= 4096; size *= 2) {
    const fitting = rows.filter((row) => Math.ceil(row.inputTokens / size) === row.hashIds?.length).length;
    if (fitting > best.rows) best = { size, rows: fitting };
  }
  return best;
}

/** What looks like a flag that was forgotten. */
function sayDoubts(rows: readonly TimedTraceRow[], { options, note }: LoadContext): void {
  const { chunkHashSize, secMultiplier } = options.timedTrace;
  const hashed = rows.filter(({ hashIds }) => hashIds !== null);
  const off = hashed.filter(
    (row) => Math.ceil(row.inputTokens / chunkHashSize) !== row.hashIds?.length,
  ).length;
  if (off > hashed.length / 10) {
    const best = fittingChunkSize(hashed);
    note(
      `timed_trace: ${off} of ${hashed.length} rows have another number of hash ids than their input lengths would ` +
        `take at --timed-trace-chunk-hash-size ${chunkHashSize}` +
        (best.rows > hashed.length - off ? `; ${best.size} fits ${best.rows} of them.` : '.'),
    );
  }
  const short = hashed.filter((row) => promptTokens(row, chunkHashSize) < row.inputTokens).length;
  if (short > 0)
    note(`timed_trace: ${short} prompts are shorter than recorded, because their hash ids cover less.`);
  const times = rows.map(({ timestampS }) => timestampS);
  const spanS =
    times.reduce((a, b) => Math.max(a, b), -Infinity) - times.reduce((a, b) => Math.min(a, b), Infinity);
  if (spanS > longestTraceS && secMultiplier === 1)
    note(
      `timed_trace: the trace takes ${Math.round(spanS / 86_400)} days. If its timestamps are milliseconds, give ` +
        '--timed-trace-sec-multiplier 0.001.',
    );
}

/** The rows to send, in the order they are sent. */
function takenRows(trace: TimedTrace, { options, numPrompts, note }: LoadContext): TimedTraceRow[] {
  const rows = numPrompts > 0 ? trace.rows.slice(0, numPrompts) : [...trace.rows];
  if (numPrompts > trace.rows.length)
    note(`timed_trace: ${trace.rows.length} requests instead of ${numPrompts}, for that is all there are.`);
  if (options.selfTimed === false) return rows;
  const sorted = [...rows].sort((a, b) => a.timestampS - b.timestampS);
  if (sorted.some((row, index) => row !== rows[index]))
    note('timed_trace: requests are sent in the order of their times, which is not that of the file.');
  return sorted;
}

/** A sample whose prompt is made when it is needed: the prompts of a day are larger than memory. */
function sampleOf(row: TimedTraceRow, index: number, tools: Tools & SampleFacts): Sample {
  return {
    get prompt() {
      return promptText(row, index, tools);
    },
    promptTokens: tools.exact
      ? promptTokens(row, tools.chunkSize)
      : tools.count(promptText(row, index, tools)),
    expectedOutputTokens: row.outputTokens,
    media: [],
    requestId: `${tools.requestIdPrefix}${index}`,
    ...(tools.startS === null ? {} : { traceTimestampS: row.timestampS - tools.startS }),
  };
}

type SampleFacts = {
  readonly requestIdPrefix: string;
  /** `null` where the trace's times are not kept. */
  readonly startS: number | null;
  /** Prompts have the length that they were made for. */
  readonly exact: boolean;
  count(text: string): number | null;
};

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, tokenizer, seed, note, requestIdPrefix } = context;
  if (options.path === null)
    throw new UsageError(`--dataset-name timed_trace needs --dataset-path: ${form}.`);
  const trace = await readTimedTrace(options.path, context);
  if (trace.invalid > 0)
    note(`timed_trace: ${trace.invalid} of ${trace.looked} rows were left out, because they do not parse.`);
  if (trace.rows.length === 0) throw new InputFileError(`${options.path}: no row to send. Expected ${form}.`);
  if (trace.form !== null)
    note(`timed_trace: read as ${trace.form} CSV; its prompts share nothing, for it has no hash ids.`);
  const rows = takenRows(trace, context);
  sayDoubts(rows, context);
  const chunkSize = options.timedTrace.chunkHashSize;
  const tools: Tools = { chunks: chunkTexts(tokenizer, seed), chunkSize };
  const count = (text: string): number | null => tokenizer?.count(text) ?? null;
  const exact =
    tokenizer !== null &&
    rows
      .slice(0, countedPrompts)
      .every((row, index) => count(promptText(row, index, tools)) === promptTokens(row, chunkSize));
  if (tokenizer !== null && !exact)
    note(
      `timed_trace: prompts do not have the lengths of the trace, because ${tokenizer.id} has no words of one token. ` +
        'The lengths that they really have are reported.',
    );
  const startS = options.selfTimed === false ? null : (rows[0]?.timestampS ?? 0);
  return rows.map((row, index) => sampleOf(row, index, { ...tools, requestIdPrefix, startS, exact, count }));
}

/** When requests came, how long they were and what they had in common, without what they said. */
export const timedTrace: Dataset = {
  name: 'timed_trace',
  doc: 'A trace of times, lengths and shared prefixes (Mooncake, Bailian, Azure), with prompts of random words, sent at its times.',
  flags: [
    'dataset-path',
    'skip-invalid',
    'self-timed',
    'timed-trace-chunk-hash-size',
    'timed-trace-sec-multiplier',
    'timed-trace-label-timestamp',
    'timed-trace-label-input-length',
    'timed-trace-label-output-length',
    'timed-trace-label-hash-ids',
  ],
  hasRows: true,
  isTimed: true,
  meaningless: true,
  load,
};
