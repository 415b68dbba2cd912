import { summarize } from '../../metrics/summarize.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { Gate } from '../../report/compare/gate.ts';
import { renderFailureGroups } from '../../report/failure-groups.ts';
import { renderReplyNotes } from '../../report/reply-notes.ts';
import { renderTerminalReport } from '../../report/terminal-report.ts';
import { judgeThresholds } from './judge-thresholds.ts';
import type { CommandIo } from './options.ts';
import { saveHtml } from './save-html.ts';
import { type PlotOptions, savePlots } from './save-plots.ts';
import { type SaveOptions, saveResult } from './save-result.ts';

/**
 * Prints a run's report, and saves its result where asked; the one way from records to what people see.
 * @returns whether every request that came to an end of its own has failed, and whether a threshold broke
 */
export async function presentRun(
  run: { readonly facts: RunFacts; readonly records: readonly RequestRecord[] },
  save: SaveOptions & PlotOptions & { readonly html: string | null; readonly thresholds: readonly Gate[] },
  io: CommandIo,
): Promise<{ readonly allFailed: boolean; readonly broken: boolean }> {
  const summary = summarize(run.records, run.facts);
  const allFailed = summary.run.completed === 0 && summary.failed.length > 0;
  if (allFailed) {
    io.stderr(
      'warning: All requests failed. This is likely due to a misconfiguration on the benchmark arguments.',
    );
  }
  for (const line of renderTerminalReport(summary)) io.stdout(line);
  for (const line of run.facts.datasetLines) io.stdout(line);
  for (const line of renderFailureGroups(summary)) io.stdout(line);
  for (const note of renderReplyNotes(summary)) io.stderr(`note: ${note}`);
  saveResult(summary, save, io);
  if (save.html !== null) saveHtml({ records: run.records, summary }, save.html, io);
  await savePlots({ records: run.records, summary }, save, io);
  return { allFailed, broken: judgeThresholds({ summary, records: run.records }, save.thresholds, io) };
}
