import { percentileName } from '../report-lines.ts';
import type { KeyStatistic } from './compare-key.ts';
import { type ComparedRun, type RunRecords, sortedColumn, statisticOfSorted } from './compared-run.ts';

type Json = Readonly<Record<string, unknown>>;
type Column = readonly ArrayLike<number>[];

/** Names that SGLang's `bench_serving` gives to what others call E2EL. */
const synonyms: readonly (readonly [from: RegExp, to: string])[] = [
  [/^(mean|median|std|p[\d.]+)_e2e_latency_ms$/, '$1_e2el_ms'],
];

/** Lists with an entry per request: name, stem, factor into the unit of the stem. The first that is there counts. */
const scalarLists: readonly (readonly [name: string, stem: string, factor: number])[] = [
  ['ttfts', 'ttft_ms', 1000],
  ['e2els', 'e2el_ms', 1000],
  ['latencies', 'e2el_ms', 1000],
  ['queue_times', 'client_queue_time_ms', 1000],
  ['audio_ttfps', 'audio_ttfp_ms', 1000],
  ['audio_rtfs', 'audio_rtf', 1],
  ['audio_durations', 'audio_duration_s', 1],
  ['audio_underruns', 'audio_underrun_s', 1],
  ['video_rtfs', 'video_rtf', 1],
];
/** Stems whose values cannot be 0 where they were observed: `vllm bench` writes 0 there for requests without. */
const positiveStems = new Set(['ttft_ms', 'e2el_ms', 'audio_ttfp_ms']);
/** How far a mean from lists that were put together may be from the stated one before the lists are not believed. */
const tolerance = 0.01;

/**
 * A result JSON of `omnimeter`, `vllm bench serve` or SGLang's `bench_serving` as a run of a comparison.
 * @returns `null` for an object that is no result of a run
 */
export function runOfResult(result: Json, source: string): ComparedRun | null {
  const values = valuesOf(result);
  if (!values.has('completed') && !values.has('duration') && !values.has('request_throughput')) {
    const named = [...values.keys()].some((key) => /^(mean|median|p\d)/.test(key));
    if (!named && !Array.isArray(result.ttfts)) return null;
  }
  const notes: string[] = [];
  return {
    source,
    values,
    records: recordsOf(result, values, (note) => notes.push(`${source}: ${note}`)),
    notes,
  };
}

function valuesOf(result: Json): Map<string, number> {
  const values = new Map<string, number>();
  for (const [name, value] of Object.entries(result)) {
    const key = synonyms.reduce((text, [from, to]) => text.replace(from, to), name);
    if (typeof value === 'number' && Number.isFinite(value)) values.set(key, value);
    const stem = /^percentiles_(.+)$/.exec(key)?.[1];
    if (stem === undefined || !Array.isArray(value)) continue;
    for (const pair of value) {
      const [p, number] = Array.isArray(pair) ? pair : [];
      if (typeof p === 'number' && typeof number === 'number' && Number.isFinite(number))
        values.set(`p${percentileName(p)}_${stem}`, number);
    }
  }
  return values;
}

function recordsOf(
  result: Json,
  values: ReadonlyMap<string, number>,
  note: (text: string) => void,
): RunRecords | null {
  const count = listLength(result);
  if (count === null) return null;
  sayLengths(result, count, note);
  const failed = failedOf(result, count);
  const columns = new Map<string, Column>();
  const ok = (i: number): boolean => failed?.[i] !== 1;
  for (const [name, stem, factor] of scalarLists) {
    const list = numbers(result[name], count);
    if (list === null || columns.has(stem)) continue;
    const seen = (value: number, i: number): boolean => ok(i) && (value > 0 || !positiveStems.has(stem));
    columns.set(
      stem,
      list.map((value, i) => (value !== null && seen(value, i) ? [value * factor] : [])),
    );
  }
  for (const [stem, column] of columns)
    if (contradicted(stem, column, { values, note }, statedStatistics(stem, values))) columns.delete(stem);
  const gaps = gapLists(result.itls, count, ok);
  if (gaps !== null) columns.set('itl_ms', gaps);
  derive(columns, { outputs: numbers(result.output_lens, count), values, note });
  for (const [stem, column] of columns) if (column.every(({ length }) => length === 0)) columns.delete(stem);
  return columns.size === 0 ? null : { count, failed, columns };
}

/** Every list with an entry per request. */
const listNames = [...new Set([...scalarLists.map(([list]) => list), 'itls', 'output_lens', 'errors'])];

function filledLists(result: Json): { readonly name: string; readonly length: number }[] {
  return listNames.flatMap((name) => {
    const list = result[name];
    return Array.isArray(list) && list.length > 0 ? [{ name, length: list.length }] : [];
  });
}

/** The length of most lists, of the first ones where it is a draw; `null` = no list holds anything to compare. */
function listLength(result: Json): number | null {
  const lists = filledLists(result);
  if (lists.every(({ name }) => name === 'errors')) return null;
  const sharing = (count: number): number => lists.filter(({ length }) => length === count).length;
  const [most] = lists.map(({ length }) => length).sort((a, b) => sharing(b) - sharing(a));
  return most ?? null;
}

/** A list of another length cannot be put beside the others: which requests it lacks is not known. */
function sayLengths(result: Json, count: number, note: (text: string) => void): void {
  const lists = filledLists(result);
  const first = lists.find(({ length }) => length === count)?.name ?? '';
  for (const { name, length } of lists)
    if (length !== count)
      note(
        `its list ${name} has ${length} entries and ${first} has ${count}, so ${name} is left out. Was the file cut or edited?`,
      );
}

function numbers(list: unknown, count: number): (number | null)[] | null {
  if (!Array.isArray(list) || list.length !== count) return null;
  return list.map((value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null));
}

/** Which requests failed: by their error, else where nothing came out. */
function failedOf(result: Json, count: number): Uint8Array | null {
  const { errors } = result;
  if (Array.isArray(errors) && errors.length === count)
    return Uint8Array.from(errors, (error: unknown) => (typeof error === 'string' && error !== '' ? 1 : 0));
  const completed = result.completed;
  return completed === count ? new Uint8Array(count) : null;
}

function gapLists(itls: unknown, count: number, ok: (i: number) => boolean): Column | null {
  if (!Array.isArray(itls) || itls.length !== count) return null;
  return itls.map((gaps: unknown, i) => {
    if (!Array.isArray(gaps) || !ok(i)) return [];
    return gaps.flatMap((gap: unknown) =>
      typeof gap === 'number' && Number.isFinite(gap) ? [gap * 1000] : [],
    );
  });
}

type Statements = {
  readonly values: ReadonlyMap<string, number>;
  readonly note: (text: string) => void;
};

/** Whether the file states another number than its list gives, which is then said. */
function contradicted(
  stem: string,
  column: Column,
  { values, note }: Statements,
  statistics: readonly KeyStatistic[],
): boolean {
  const sorted = sortedColumn(column);
  for (const statistic of statistics) {
    const name = typeof statistic === 'string' ? statistic : `p${percentileName(statistic.percentile)}`;
    const stated = values.get(`${name}_${stem}`);
    const found = statisticOfSorted(sorted, statistic);
    if (found === null || stated === undefined) continue;
    if (Math.abs(found - stated) <= tolerance * Math.abs(stated)) continue;
    note(`its lists do not give its ${name}_${stem} (${found} and ${stated}), so ${stem} is not tested`);
    return true;
  }
  return false;
}

/** Statistics of a stem that the file states. Standard deviations are defined in two ways, and say nothing here. */
function statedStatistics(stem: string, values: ReadonlyMap<string, number>): KeyStatistic[] {
  const percentiles = [...values.keys()].flatMap((key) => {
    const p = key.endsWith(`_${stem}`)
      ? /^p(\d+(?:\.\d+)?)$/.exec(key.slice(0, -stem.length - 1))?.[1]
      : undefined;
    return p === undefined ? [] : [{ percentile: Number(p) }];
  });
  return ['mean', 'median', ...percentiles];
}

/**
 * E2EL and TPOT from the lists that there are: E2EL = TTFT + its gaps, TPOT = (E2EL − TTFT) / (tokens − 1). Tools end a
 * latency at different messages, so what is put together counts only where it gives the stated mean.
 */
function derive(
  columns: Map<string, Column>,
  of: Statements & { readonly outputs: readonly (number | null)[] | null },
): void {
  const ttfts = columns.get('ttft_ms');
  const gaps = columns.get('itl_ms');
  const add = (stem: string, column: Column): void => {
    const isEmpty = column.every(({ length }) => length === 0);
    if (!isEmpty && !contradicted(stem, column, of, ['mean'])) columns.set(stem, column);
  };
  if (!columns.has('e2el_ms') && ttfts && gaps)
    add(
      'e2el_ms',
      ttfts.map((ttft, i) => {
        const first = ttft[0];
        return first === undefined ? [] : [Array.from(gaps[i] ?? []).reduce((sum, gap) => sum + gap, first)];
      }),
    );
  const ends = columns.get('e2el_ms');
  const { outputs } = of;
  if (!ends || !ttfts || !outputs) return;
  add(
    'tpot_ms',
    ends.map((end, i) => {
      const tokens = outputs[i] ?? 0;
      const first = ttfts[i]?.[0];
      const last = end[0];
      if (tokens < 2 || first === undefined || last === undefined || last <= first) return [];
      return [(last - first) / (tokens - 1)];
    }),
  );
}
