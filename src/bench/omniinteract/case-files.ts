import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../../foundation/errors.ts';
import type { DuplexArtifacts } from '../../records/duplex-session.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { caseFolderName, type OmniInteractCase } from '../../workloads/omniinteract/omniinteract-case.ts';
import {
  type CaseResult,
  caseResultOf,
  officialScene,
  transcriptOf,
  unwrittenResult,
} from './case-result.ts';
import { keptRecordFile, keptRecordText, type RunPart } from './kept-record.ts';
import { jsonText, writeWhole } from './write-whole.ts';

/** What a case leaves behind, in the order in which it is written; the marker comes last. */
export const successFiles = ['output.wav', 'wav_transcript.json', 'events.json', 'result.json'] as const;
export const doneFile = '.done';
const failedFile = '.failed.json';
/** What a failed session had left, under names that nobody takes for those of a finished case. */
const partialFiles = {
  wav: 'failed_output.wav',
  transcript: 'failed_transcript.json',
  events: 'failed_events.json',
};

/** The folder of a case, absolute. */
export function caseFolder(root: string, one: OmniInteractCase): string {
  return resolve(root, one.subset, caseFolderName(one));
}

/** Removes all that a case may have left, also what was being written when a process was killed. */
export async function removeCase(folder: string): Promise<void> {
  for (const name of [doneFile, failedFile, keptRecordFile, ...successFiles, ...Object.values(partialFiles)])
    await rm(join(folder, name), { force: true });
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (/^\..+\.tmp$/.test(name)) await rm(join(folder, name), { force: true });
}

export type PublishedCase = {
  readonly result: CaseResult;
  /** Why its files are not there as they should be; `null` = they are. */
  readonly problem: string | null;
};

/**
 * Writes what a case left behind. Whoever finds its `.done` finds all of it.
 * @returns never rejects: a full disk must not cost the measurement
 */
export async function publishCase(
  root: string,
  one: OmniInteractCase,
  ended: {
    readonly record: RequestRecord;
    readonly artifacts: DuplexArtifacts | null;
    readonly part: RunPart;
  },
): Promise<PublishedCase> {
  const folder = caseFolder(root, one);
  const result = caseResultOf(one, ended.record, folder);
  try {
    await mkdir(folder, { recursive: true });
    await removeCase(folder);
    if (result.success) await writeSuccess(folder, { one, result, ...ended });
    else await writeFailure(folder, { one, result, ...ended });
    return { result, problem: null };
  } catch (error) {
    const problem = `Artifact publication failed: ${messageOf(error)}`;
    const unwritten = unwrittenResult(result, problem);
    await markUnwritten(folder, marker(one, unwritten));
    return { result: unwritten, problem: `${one.subset}/${one.videoRel}: ${problem}` };
  }
}

type EndedCase = {
  readonly one: OmniInteractCase;
  readonly result: CaseResult;
  readonly record: RequestRecord;
  readonly artifacts: DuplexArtifacts | null;
  readonly part: RunPart;
};

async function writeSuccess(folder: string, ended: EndedCase): Promise<void> {
  const { one, result, record, artifacts, part } = ended;
  const wav = artifacts?.wav ?? null;
  if (artifacts === null || wav === null || record.duplex === null)
    throw new Error('the session left no sound and no events');
  await writeWhole(join(folder, 'output.wav'), wav);
  await writeWhole(join(folder, 'wav_transcript.json'), jsonText(transcriptOf(record.duplex)));
  await writeWhole(join(folder, 'events.json'), artifacts.eventsJson);
  await writeWhole(join(folder, 'result.json'), jsonText(result));
  await writeWhole(join(folder, keptRecordFile), keptRecordText({ part, record }));
  await writeWhole(join(folder, doneFile), marker(one, result));
}

/** What was received helps to find out why; without `.done`, nothing of it counts, and the case runs again. */
async function writeFailure(folder: string, { one, result, record, artifacts }: EndedCase): Promise<void> {
  const { duplex } = record;
  if (artifacts !== null) {
    const { wav, eventsJson } = artifacts;
    if (wav !== null) await writeWhole(join(folder, partialFiles.wav), wav);
    if (duplex !== null && duplex.transcriptChunks.length > 0)
      await writeWhole(join(folder, partialFiles.transcript), jsonText(transcriptOf(duplex)));
    await writeWhole(join(folder, partialFiles.events), eventsJson);
  }
  await writeWhole(join(folder, failedFile), marker(one, result));
}

function marker(one: OmniInteractCase, result: CaseResult): string {
  return jsonText({ ...result, annotation: one.annotationPath, scene_type: officialScene(one.sceneType) });
}

/** As far as the disk allows. */
async function markUnwritten(folder: string, text: string): Promise<void> {
  try {
    await removeCase(folder);
    await writeWhole(join(folder, failedFile), text);
  } catch {
    // The problem that led here is told already.
  }
}
