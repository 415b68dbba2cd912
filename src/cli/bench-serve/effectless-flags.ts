import type { FlagTable } from '../flags/flag.ts';
import type { DatasetCatalogue } from './dataset-options.ts';
import type { EndpointFacts } from './resolve-target.ts';

/** Flags of what requests hold; a recorded one holds what it held. */
const recordedFlags = [
  'extra-body',
  'ignore-eos',
  'logprobs',
  'unstreamed',
  'output-len',
  'top-p',
  'top-k',
  'min-p',
  'temperature',
  'frequency-penalty',
  'presence-penalty',
  'repetition-penalty',
];

/** Flags of when requests are sent; a trace says that itself. */
const rateFlags = ['request-rate', 'burstiness', 'ramp-up-strategy', 'ramp-up-start-rps', 'ramp-up-end-rps'];

/**
 * The given flags that do nothing in this run, as one line each: those of other datasets, and those that lack the
 * flag that they serve. Such flags are accepted, because command lines are shared between runs, and said.
 */
export function effectlessFlags(
  explicit: ReadonlySet<string>,
  table: FlagTable,
  run: {
    readonly dataset: string;
    readonly datasets: DatasetCatalogue;
    readonly selfTimed: boolean | null;
    readonly saves: boolean;
    readonly endpoint: EndpointFacts;
  },
): string[] {
  const lines: string[] = [];
  const own = new Set(run.datasets[run.dataset]?.flags ?? []);
  for (const name of explicit) {
    const owner = table[name]?.belongsTo ?? ownerOf(name, own, run.datasets);
    if (owner !== null) lines.push(`--${name} has no effect here: it belongs to ${owner}.`);
  }
  if (explicit.has('input-len') && !own.has('random-input-len') && !own.has('sonnet-input-len'))
    lines.push(`--input-len has no effect with --dataset-name ${run.dataset}.`);
  if (run.dataset === 'workload_trace') {
    for (const name of recordedFlags)
      if (explicit.has(name)) lines.push(`--${name} has no effect: recorded requests are sent as they are.`);
  }
  if (run.datasets[run.dataset]?.isTimed && run.selfTimed !== false) {
    for (const name of rateFlags)
      if (explicit.has(name))
        lines.push(
          `--${name} has no effect: requests are sent at the trace's times; --no-self-timed ignores these.`,
        );
  }
  if (explicit.has('base-url')) {
    for (const name of ['host', 'port'])
      if (explicit.has(name)) lines.push(`--${name} has no effect with --base-url.`);
  }
  if (explicit.has('image-edits-bot-task') && !run.endpoint.takesBotTask)
    lines.push('--image-edits-bot-task has no effect without an image edits endpoint.');
  if (explicit.has('video-download') && run.endpoint.defaultPath !== '/v1/videos')
    lines.push('--video-download has no effect without --endpoint /v1/videos.');
  if (!run.saves) {
    for (const name of ['save-detailed', 'result-dir', 'result-filename'])
      if (explicit.has(name)) lines.push(`--${name} has no effect without --save-result or --append-result.`);
  }
  return lines;
}

function ownerOf(name: string, own: ReadonlySet<string>, datasets: DatasetCatalogue): string | null {
  if (own.has(name)) return null;
  const owners = Object.values(datasets).filter((dataset) => dataset.flags.includes(name));
  if (owners.length === 0) return null;
  return `the dataset ${owners.map((dataset) => dataset.name).join(', ')}`;
}
