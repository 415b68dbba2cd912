import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  caseFolderName,
  type OmniInteractCase,
  officialOutputName,
} from '../../workloads/omniinteract/omniinteract-case.ts';
import { caseFolder } from './case-files.ts';
import { type CaseResult, officialScene } from './case-result.ts';
import { jsonLines, jsonText, writeWhole } from './write-whole.ts';

/** Its presence says that a run has come to its end. */
export const batchSummaryFile = 'batch_summary.json';
const manifestFile = 'official_eval_manifest.jsonl';
const sampledFile = 'sampled_cases.jsonl';

/** A case and what came of it. */
export type FinishedCase = { readonly one: OmniInteractCase; readonly result: CaseResult };

/** What the result file says of the dataset's run. */
export type BatchCounts = {
  readonly total: number;
  readonly success: number;
  readonly failed: number;
  readonly eligible_for_official_eval: number;
  readonly successful_but_ineligible: number;
  readonly audio_clipped_bytes: number;
};

/** Removes the files of an earlier run, the summary first: without it the folder is one that was cut off. */
export async function removeBatchFiles(root: string): Promise<void> {
  for (const name of [batchSummaryFile, manifestFile, sampledFile])
    await rm(join(root, name), { force: true });
}

/** The cases of the run, whatever becomes of them: a list for `--omniinteract-video-list`. */
export async function writeSampledCases(root: string, cases: readonly OmniInteractCase[]): Promise<void> {
  const rows = cases.map((one) => ({
    video_path: one.videoPath,
    output_name: officialOutputName(one),
    subset: one.subset,
  }));
  await writeWhole(join(root, sampledFile), jsonLines(rows));
}

/** Writes the manifest, and then the summary, which ends the run. */
export async function writeBatchFiles(root: string, cases: readonly FinishedCase[]): Promise<void> {
  const rows = cases
    .filter(({ result }) => isEligible(result))
    .map(({ one }) => ({
      sample_id: sampleIdOf(one),
      video: one.videoPath,
      gt_json: one.annotationPath,
      model_json: transcriptPathOf(root, one),
      scene_type: officialScene(one.sceneType),
    }));
  await writeWhole(join(root, manifestFile), jsonLines(rows));
  const summary = { ...countCases(cases), results: cases.map(({ result }) => result) };
  await writeWhole(join(root, batchSummaryFile), jsonText(summary));
}

export function countCases(cases: readonly FinishedCase[]): BatchCounts {
  const results = cases.map(({ result }) => result);
  const success = results.filter((result) => result.success).length;
  const eligible = results.filter(isEligible).length;
  return {
    total: results.length,
    success,
    failed: results.length - success,
    eligible_for_official_eval: eligible,
    successful_but_ineligible: success - eligible,
    audio_clipped_bytes: results.reduce((sum, { audio_clipped_bytes: bytes }) => sum + bytes, 0),
  };
}

/** `a case was excluded` as `reason=count`, sorted; empty = none was. */
export function exclusionReasons(cases: readonly FinishedCase[]): string[] {
  const counts = new Map<string, number>();
  for (const { result } of cases) {
    if (!result.success || isEligible(result)) continue;
    for (const reason of result.official_eval_ineligible_reasons)
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([reason, count]) => `${reason}=${count}`);
}

export function isEligible(result: CaseResult): boolean {
  return result.success && result.eligible_for_official_eval;
}

/** A case's name in evaluations. */
export function sampleIdOf(one: OmniInteractCase): string {
  return `${one.subset}__${caseFolderName(one)}`;
}

export function transcriptPathOf(root: string, one: OmniInteractCase): string {
  return join(caseFolder(root, one), 'wav_transcript.json');
}
