import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import sharp from 'sharp';
import { InputFileError, messageOf, OutputFileError, UsageError } from '../../foundation/errors.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import { type Chart, chartSvg } from '../../report/plot/chart-svg.ts';
import { type CurveOptions, curveChart } from '../../report/sweep/curve-figure.ts';
import {
  type ParetoOptions,
  type ParetoPoint,
  paretoChart,
  paretoPoints,
} from '../../report/sweep/pareto.ts';
import {
  binned,
  checkPlotKey,
  groupRows,
  type PlotRow,
  parseBins,
  parseFilters,
} from '../../report/sweep/plot-rows.ts';
import { sweepPage } from '../../report/sweep/sweep-page.ts';
import type { CommandIo } from '../serve/options.ts';
import { fileNameOf } from './combinations.ts';

/** Pixels of a PNG per unit of its SVG. */
const pngScale = 2;

type PlotIo = Pick<CommandIo, 'stdout' | 'stderr'>;

export type PlotOptions = Omit<CurveOptions, 'binnedKeys'> & {
  readonly dir: string;
  /** Below `dir`; empty = `dir` itself. */
  readonly figDir: string;
  readonly figBy: readonly string[];
  readonly filterBy: string;
  readonly binBy: string;
  readonly figName: string;
  readonly dryRun: boolean;
};

/**
 * Draws curves from a sweep's results: a PNG and an SVG for each figure, and a page with all of them, the Pareto front
 * and the runs.
 * @throws UsageError for a key that no run has, and filters that no run passes; InputFileError where there is no result
 */
export async function plotSweep(options: PlotOptions, io: PlotIo): Promise<void> {
  const all = readSummaries(options.dir);
  for (const [flag, keys] of Object.entries({
    '--fig-by': options.figBy,
    '--row-by': options.rowBy,
    '--col-by': options.colBy,
    '--curve-by': options.curveBy,
    '--var-x': [options.varX],
    '--var-y': [options.varY],
  }))
    for (const key of keys) checkPlotKey(all, key, flag);
  const filters = parseFilters(options.filterBy, all);
  const bins = parseBins(options.binBy, all);
  const rows = all.filter((row) => filters.every((holds) => holds(row))).map((row) => binned(row, bins));
  if (rows.length === 0)
    throw new UsageError(
      `--filter-by ${options.filterBy}: of the ${all.length} runs in ${options.dir} none is left. Loosen the filter.`,
    );
  const curves = { ...options, binnedKeys: bins.map(({ key }) => key) };
  const folder = join(options.dir, options.figDir);
  const figures = [...groupRows(rows, options.figBy)].map(([group, ofFigure]) => {
    const title = `${options.varY} over ${options.varX}${group === '' ? '' : ` (${group})`}`;
    const name = fileNameOf([options.figName, group].filter((part) => part !== '').join('-'));
    return { title, path: join(folder, name), chart: curveChart(title, ofFigure, curves) };
  });
  for (const { title, path, chart } of figures) {
    io.stdout('[BEGIN FIGURE]');
    io.stdout(`Figure: ${title}`);
    const width = Math.max(0, ...chart.rows.map((row) => row.length));
    io.stdout(`Grid: ${chart.rows.length} rows x ${width} cols`);
    io.stdout(`Output file: ${path}.png`);
    if (!options.dryRun) await writeFigure(path, chart);
    io.stdout('[END FIGURE]');
  }
  if (options.dryRun) return;
  const { points } = paretoPoints(rows, { userCountVar: 'max_concurrency', gpuCountVar: null });
  const page = join(folder, `${fileNameOf(options.figName)}.html`);
  writePage(page, {
    title: basename(resolve(options.dir)),
    figures: [...figures, ...paretoFigure(points)],
    rows,
    points,
  });
  io.stderr(`The page with all figures is ${page}`);
}

/**
 * Draws what users get against what GPUs give, and the front of runs that none beats in both.
 * @throws InputFileError where there is no result, or none with throughput and users
 */
export async function plotPareto(
  dir: string,
  options: ParetoOptions & { readonly dryRun: boolean },
  io: PlotIo,
): Promise<void> {
  const rows = readSummaries(dir);
  const { points, skipped } = paretoPoints(rows, options);
  if (skipped > 0)
    io.stderr(`note: ${skipped} runs have no output_throughput or no number of users, and are left out.`);
  if (points.length === 0)
    throw new InputFileError(
      `${dir}: no run has both output_throughput and a number of users. Name the key of the latter with --user-count-var.`,
    );
  const path = join(dir, 'pareto', 'PARETO');
  io.stdout('[BEGIN FIGURE]');
  io.stdout(`Output file: ${path}.png`);
  if (!options.dryRun) {
    await writeFigure(path, paretoChart(points));
    writePage(`${path}.html`, { title: basename(resolve(dir)), figures: paretoFigure(points), rows, points });
    io.stdout(
      `Plotted ${points.length} points; Pareto frontier size: ${points.filter(({ onFront }) => onFront).length}.`,
    );
  }
  io.stdout('[END FIGURE]');
}

function paretoFigure(points: readonly ParetoPoint[]): { title: string; chart: Chart }[] {
  return points.length === 0 ? [] : [{ title: 'Pareto frontier', chart: paretoChart(points) }];
}

/** Every run of every `summary.json` below a folder. */
function readSummaries(dir: string): PlotRow[] {
  if (!existsSync(dir)) throw new InputFileError(`there is no folder ${dir}. Give the folder of a sweep.`);
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'summary.json')
    .sort();
  const rows = files.flatMap((file) => readSummary(join(dir, file), dirname(relative(dir, join(dir, file)))));
  if (rows.length > 0) return rows;
  throw new InputFileError(
    `${dir} holds no results of a sweep (no summary.json). Give the folder of a sweep.`,
  );
}

function readSummary(path: string, combination: string): PlotRow[] {
  let value: unknown;
  try {
    value = parseTolerantJson(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InputFileError(`${path} is not JSON: ${messageOf(cause)}.`, { cause });
  }
  if (!Array.isArray(value)) throw new InputFileError(`${path}: expected a list of runs.`);
  return value.flatMap((data: unknown) =>
    typeof data === 'object' && data !== null && !Array.isArray(data)
      ? [{ combination, data: { ...data } }]
      : [],
  );
}

async function writeFigure(path: string, chart: Chart): Promise<void> {
  const svg = chartSvg(chart);
  await attempt(path, async () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.svg`, svg);
    await sharp(Buffer.from(svg), { density: 72 * pngScale })
      .png({ palette: true })
      .toFile(`${path}.png`);
  });
}

function writePage(
  path: string,
  of: {
    readonly title: string;
    readonly figures: readonly { readonly title: string; readonly chart: Chart }[];
    readonly rows: readonly PlotRow[];
    readonly points: readonly ParetoPoint[];
  },
): void {
  const text = sweepPage({ ...of, pareto: of.points, notes: [] });
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

async function attempt(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): OutputFileError {
  return new OutputFileError(`cannot write ${path}: ${messageOf(cause)}.`, { cause });
}
