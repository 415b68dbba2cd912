import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, OutputFileError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { buildReportModel } from '../../report/html/build-report-model.ts';
import { readPageTemplate } from '../../report/html/page-template.ts';
import { renderHtmlReport } from '../../report/html/render-html-report.ts';
import type { CommandIo } from './options.ts';

/**
 * Writes the HTML page of a run.
 * @throws OutputFileError when it can't be written
 */
export function saveHtml(
  run: { readonly records: readonly RequestRecord[]; readonly summary: RunSummary },
  path: string,
  io: CommandIo,
): void {
  const page = renderHtmlReport(buildReportModel(run.records, run.summary), readPageTemplate());
  try {
    makeFolder(dirname(path));
    writeFileSync(`${path}.part`, page);
    renameSync(`${path}.part`, path);
  } catch (cause) {
    throw new OutputFileError(
      `cannot write the HTML report to ${path}: ${messageOf(cause)}. Give --html a file in a folder that can be written.`,
      { cause },
    );
  }
  io.stderr(`HTML report written to ${path}`);
}
