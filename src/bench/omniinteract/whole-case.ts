import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseWavHeader } from '../../media/wav-header.ts';
import { doneFile, successFiles } from './case-files.ts';

/**
 * Whether all that a finished case leaves behind is there, to its end. A marker alone does not say so: where a machine
 * has lost power, or a disk was full, files that were renamed into place can be empty or cut off.
 */
export function isWholeCase(folder: string): boolean {
  try {
    return successFiles.every((name) => isWholeFile(join(folder, name))) && markerAgrees(folder);
  } catch (error) {
    // Not there, not readable, or no JSON.
    if (error instanceof SyntaxError || (error instanceof Error && 'syscall' in error)) return false;
    throw error;
  }
}

function isWholeFile(path: string): boolean {
  const bytes = readFileSync(path);
  if (!path.endsWith('.wav')) {
    JSON.parse(bytes.toString());
    return true;
  }
  const header = parseWavHeader(bytes, bytes.length);
  return header.ok && header.announcedBytes === header.dataBytes;
}

/** The marker repeats the result, and says what it was measured against. */
function markerAgrees(folder: string): boolean {
  const marker = objectIn(join(folder, doneFile));
  const result = objectIn(join(folder, 'result.json'));
  if (marker === null || result === null || result.success !== true) return false;
  const { annotation, scene_type: scene, ...repeated } = marker;
  return typeof annotation === 'string' && typeof scene === 'string' && isDeepStrictEqual(repeated, result);
}

function objectIn(path: string): Readonly<Record<string, unknown>> | null {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
