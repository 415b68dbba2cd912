import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, extname, join, parse } from 'node:path';
import { stringify } from 'yaml';
import { fileAt } from '../../foundation/check-outputs.ts';
import { messageOf, OutputFileError, UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import { summarize } from '../../metrics/summarize.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import { readRun } from '../../records/journal.ts';
import { aiperfRecords, aiperfSummary } from '../../report/export/aiperf-export.ts';
import { guidellmReport } from '../../report/export/guidellm-export.ts';
import { llmdReport } from '../../report/export/llmd-export.ts';
import { requestsCsv, requestsJsonl, requestsParquet } from '../../report/export/table-exports.ts';
import type { ExportFormat } from './export-formats.ts';
import type { CommandIo } from './options.ts';

/** Parts of a file, written one after the other: a run may be larger than a string can be. */
type Content = Iterable<string | Uint8Array>;

type ExportFile = { readonly path: string; readonly content: Content };

/** What each format is called where only a folder is named: the names that its own tool gives. */
const fileNames: Readonly<Record<ExportFormat, string>> = {
  csv: 'requests.csv',
  jsonl: 'requests.jsonl',
  parquet: 'requests.parquet',
  aiperf: 'profile_export_aiperf.json',
  guidellm: 'benchmarks.json',
  llmd: 'benchmark_report_v0.2.1.json',
};

/** What to write and where: a folder, or a file where one format is asked for; `null` is the current folder. */
export type ExportRequest = { readonly formats: readonly ExportFormat[]; readonly output: string | null };

/**
 * The files that an export writes.
 * @throws UsageError for several formats into one file
 */
export function exportPaths(of: ExportRequest): string[] {
  return of.formats.flatMap((format) => {
    const path = pathOf(format, of);
    return format === 'aiperf' ? [path, recordsPath(path)] : [path];
  });
}

/**
 * Writes a stored run in the forms of other tools.
 * @throws UsageError for several formats into one file; InputFileError, OutputFileError
 */
export async function exportRun(
  dir: string,
  of: ExportRequest,
  io: Pick<CommandIo, 'stderr'>,
): Promise<void> {
  const { facts, records } = await readRun(dir);
  const summary = summarize(records, facts);
  for (const format of of.formats)
    for (const file of filesOf(format, pathOf(format, of), summary)) {
      write(file);
      io.stderr(`Exported ${format} to ${file.path}`);
    }
}

function pathOf(format: ExportFormat, { formats, output }: ExportRequest): string {
  const isFolder = output === null || output.endsWith('/') || fileAt(output)?.isDirectory() === true;
  if (isFolder) return join(output ?? '', fileNames[format]);
  if (formats.length === 1) return output;
  if (extname(output) === '') return join(output, fileNames[format]);
  throw new UsageError(
    `--output: ${output} is one file, and --export names ${formats.length} formats. Name a folder.`,
  );
}

function filesOf(format: ExportFormat, path: string, summary: RunSummary): ExportFile[] {
  switch (format) {
    case 'csv':
      return [{ path, content: requestsCsv(summary) }];
    case 'jsonl':
      return [{ path, content: requestsJsonl(summary) }];
    case 'parquet':
      return [{ path, content: [requestsParquet(summary)] }];
    case 'aiperf':
      return [
        { path, content: [json(aiperfSummary(summary))] },
        { path: recordsPath(path), content: aiperfRecords(summary) },
      ];
    case 'guidellm':
      return [{ path, content: [json(guidellmReport(summary, `${process.platform}-${process.arch}`))] }];
    case 'llmd': {
      const report = llmdReport(summary);
      const yaml = ['.yaml', '.yml'].includes(extname(path));
      return [{ path, content: [yaml ? stringify(report) : json(report)] }];
    }
  }
}

/**
 * Where the records go that belong to a summary: `profile_export_aiperf.json` has them in `profile_export.jsonl`, as
 * AIPerf does it, and `x.jsonl` in `x.records.jsonl`.
 */
function recordsPath(path: string): string {
  const { dir, name, ext } = parse(path);
  const stem = name.replace(/_aiperf$/, '');
  return join(dir, ext === '.jsonl' ? `${stem}.records.jsonl` : `${stem}.jsonl`);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function write({ path, content }: ExportFile): void {
  try {
    makeFolder(dirname(path));
    const file = openSync(`${path}.part`, 'w');
    try {
      for (const part of content) {
        const bytes = typeof part === 'string' ? Buffer.from(part) : part;
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      }
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.part`, path);
  } catch (cause) {
    throw new OutputFileError(
      `cannot write the export to ${path}: ${messageOf(cause)}. Give --output another place.`,
      {
        cause,
      },
    );
  }
}
