import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { messageOf, OutputFileError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { readPageTemplate } from '../../report/html/page-template.ts';
import { filledPage } from '../../report/html/render-html-report.ts';
import { requestTimeline } from '../../report/plot/request-timeline.ts';
import { type TokenLengths, tokenHistogramsSvg } from '../../report/plot/token-histograms.ts';
import { dateLabelOf, resultFileName } from '../../report/result-file-name.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';

export type PlotOptions = Pick<
  BenchServeOptions,
  'plotTimeline' | 'plotDatasetStats' | 'resultDir' | 'resultFilename'
>;

type Run = { readonly records: readonly RequestRecord[]; readonly summary: RunSummary };

/** Pictures are sharp on screens with two pixels for one. */
const pngScale = 2;

/**
 * Writes the plots that were asked for beside the result's JSON, whether or not that is saved.
 * @throws OutputFileError when one can't be written
 */
export async function savePlots(run: Run, options: PlotOptions, io: CommandIo): Promise<void> {
  const { facts } = run.summary;
  const name = options.resultFilename ?? resultFileName(facts, dateLabelOf(new Date(facts.startedAt)));
  const stem = join(options.resultDir ?? '', name.replace(/\.json$/, ''));
  if (options.plotTimeline !== null) saveTimeline(run.summary, options.plotTimeline, stem, io);
  if (options.plotDatasetStats) await saveDatasetStats(run, stem, io);
}

function saveTimeline(
  summary: RunSummary,
  thresholdsMs: readonly [number, number],
  stem: string,
  io: CommandIo,
): void {
  const timeline = requestTimeline(summary, thresholdsMs);
  if (timeline === null) {
    io.stdout('No timeline data to plot');
    return;
  }
  const title = `Request timeline: ${timeline.model}`;
  const path = `${stem}.timeline.html`;
  written(path, filledPage(readPageTemplate('timeline-page.html'), title, timeline));
  const left = timeline.total - timeline.requests.length;
  if (left > 0)
    io.stderr(
      `note: the timeline shows ${timeline.requests.length} of ${timeline.total} requests, evenly chosen, because ` +
        'all would be too many bars.',
    );
  io.stdout(`Timeline plot saved to: ${path}`);
}

/** Lengths as the dataset had them: what was asked for, not what came. */
function tokenLengths({ records, summary }: Run): TokenLengths {
  const measured = records.filter(({ role }) => role === 'measured');
  const known = (pick: (record: RequestRecord) => number | null): number[] =>
    measured.flatMap((record) => pick(record) ?? []);
  const prompt = (record: RequestRecord) => record.plannedPromptTokens ?? record.promptTokens;
  const total = (record: RequestRecord): number | null => {
    const tokens = prompt(record);
    return tokens === null || record.expectedOutputTokens === null
      ? null
      : tokens + record.expectedOutputTokens;
  };
  return {
    title: `Lengths of requests: ${summary.facts.dataset}`,
    samples: [
      { title: 'Prompt tokens', values: known(prompt), colour: '#0072b2' },
      { title: 'Output tokens asked for', values: known((r) => r.expectedOutputTokens), colour: '#009e73' },
      { title: 'Prompt and output tokens', values: known(total), colour: '#d55e00' },
    ],
  };
}

async function saveDatasetStats(run: Run, stem: string, io: CommandIo): Promise<void> {
  const svg = tokenHistogramsSvg(tokenLengths(run));
  const png = await sharp(Buffer.from(svg), { density: 72 * pngScale })
    .png({ palette: true })
    .toBuffer();
  written(`${stem}.dataset_stats.svg`, svg);
  written(`${stem}.dataset_stats.png`, png);
  io.stdout(`Dataset statistics plot saved to: ${stem}.dataset_stats.png`);
}

function written(path: string, content: string | Uint8Array): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(`${path}.part`, content);
    renameSync(`${path}.part`, path);
  } catch (cause) {
    throw new OutputFileError(
      `cannot write the plot to ${path}: ${messageOf(cause)}. Give --result-dir a folder that can be written.`,
      { cause },
    );
  }
}
