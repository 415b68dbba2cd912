import { join } from 'node:path';
import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { itemName, type ParameterItem, parametersOf, parameterValue } from './parameter-file.ts';

/** Which parameter of the server must equal which of the benchmark. */
export type LinkVariable = { readonly serve: string; readonly bench: string };

/** @throws UsageError unless `a=b` pairs separated by commas */
export function parseLinkVariables(text: string): LinkVariable[] {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const [serve = '', bench = '', extra] = part.split('=').map((side) => side.trim());
    if (serve === '' || bench === '' || extra !== undefined)
      throw new UsageError(`--link-vars: '${part}' is no pair. Write it like max_num_seqs=max_concurrency.`);
    return { serve, bench };
  });
}

/** Whether two settings go together: every linked pair is there and equal. */
export function areLinked(
  serve: ParameterItem,
  bench: ParameterItem,
  links: readonly LinkVariable[],
): boolean {
  return links.every((link) => {
    const a = parameterValue(serve, link.serve);
    const b = parameterValue(bench, link.bench);
    return a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);
  });
}

/**
 * Checks that linked parameters are there to be linked, and leave something to measure.
 * @throws UsageError for a parameter that no setting has, naming the nearest, and where no two settings go together
 */
export function checkLinks(of: {
  readonly serveItems: readonly ParameterItem[];
  readonly benchItems: readonly ParameterItem[];
  readonly links: readonly LinkVariable[];
}): void {
  for (const link of of.links) {
    checkLinked(link.serve, of.serveItems, 'server');
    checkLinked(link.bench, of.benchItems, 'benchmark');
  }
  if (of.serveItems.some((serve) => of.benchItems.some((bench) => areLinked(serve, bench, of.links)))) return;
  const pairs = of.links.map(({ serve, bench }) => `${serve}=${bench}`).join(',');
  throw new UsageError(
    `--link-vars ${pairs}: no setting of the server goes with any of the benchmark, so that nothing is left to measure. Linked parameters must have equal values in both.`,
  );
}

function checkLinked(key: string, items: readonly ParameterItem[], side: 'server' | 'benchmark'): void {
  if (items.some((item) => parameterValue(item, key) !== undefined)) return;
  const keys = [...new Set(items.flatMap((item) => parametersOf(item).map(([name]) => name)))];
  const nearest = nearestName(key, keys);
  const there = keys.length === 0 ? 'They have none.' : `They have ${keys.join(', ')}.`;
  throw new UsageError(
    `--link-vars: no setting of the ${side} has '${key}'. ${nearest === null ? there : `Did you mean ${nearest}?`}`,
  );
}

/** A name that stays inside its folder. */
export function fileNameOf(text: string): string {
  return text.replaceAll('/', '_').replaceAll('..', '__').replaceAll('\0', '_');
}

/** The folder of a combination: `SERVE--<name>-BENCH--<name>`, with what is explored after it. */
export function combinationFolder(
  experimentDir: string,
  serve: ParameterItem,
  bench: ParameterItem,
  explored = '',
): string {
  const parts = [
    ...(Object.keys(serve).length > 0 ? ['SERVE-', itemName(serve)] : []),
    ...(Object.keys(bench).length > 0 ? ['BENCH-', itemName(bench)] : []),
    ...(explored === '' ? [] : ['WL-', explored]),
  ];
  const name = fileNameOf(parts.join('-'));
  return name === '' ? experimentDir : join(experimentDir, name);
}

/** The settings times simple lists of load: every combination of both, in order. */
export function withLoadLists(
  items: readonly ParameterItem[],
  lists: {
    readonly maxConcurrency: readonly number[];
    readonly requestRate: readonly number[];
    /** Requests per slot of concurrency; `null` = as the command says. */
    readonly promptsFactor: number | null;
  },
): ParameterItem[] {
  const concurrencies = lists.maxConcurrency.length > 0 ? lists.maxConcurrency : [null];
  const rates = lists.requestRate.length > 0 ? lists.requestRate : [null];
  return items.flatMap((item) =>
    concurrencies.flatMap((concurrency) =>
      rates.map((rate) =>
        extended(item, {
          ...(concurrency === null ? {} : { max_concurrency: concurrency }),
          ...(rate === null ? {} : { request_rate: rate }),
          ...(concurrency === null || lists.promptsFactor === null
            ? {}
            : { num_prompts: concurrency * lists.promptsFactor }),
        }),
      ),
    ),
  );
}

/** A setting with more parameters; where it has a name of its own, they become part of it. */
function extended(item: ParameterItem, parameters: ParameterItem): ParameterItem {
  const more = itemName(parameters);
  if (item._benchmark_name === undefined || more === '') return { ...item, ...parameters };
  return { ...item, _benchmark_name: `${itemName(item)}-${more}`, ...parameters };
}
