import type { RequestRecord, StageSnapshot } from '../records/request-record.ts';
import { positiveFigure } from './snapshot-number.ts';

/** What a stage makes, which decides what is reported of it. */
export type StageClass = 'video' | 'image' | 'text' | 'audio' | 'stream' | 'other';

/** One stage's snapshot of one response. */
export type StageRow = {
  readonly snapshot: StageSnapshot;
  /** What the stage counts its output in; `other` where it says nothing. */
  readonly unit: string;
};

/** All that a run's successful requests reported of one stage. */
export type StageRows = {
  readonly id: string;
  readonly name: string;
  readonly stageClass: StageClass;
  readonly rows: readonly StageRow[];
};

/** Snapshots by stage, stages in numeric order; each response of a request is a row of its own. */
export function stageRowsOf(succeeded: Iterable<RequestRecord>): StageRows[] {
  const byId = new Map<string, StageSnapshot[]>();
  for (const record of succeeded) {
    for (const response of record.responses) {
      for (const [id, snapshot] of Object.entries(response.stages)) {
        const rows = byId.get(id);
        if (rows) rows.push(snapshot);
        else byId.set(id, [snapshot]);
      }
    }
  }
  return [...byId].sort(([a], [b]) => byNumber(a, b)).map(([id, snapshots]) => stageOf(id, snapshots));
}

function byNumber(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  return a < b ? -1 : a > b ? 1 : 0;
}

function stageOf(id: string, snapshots: readonly StageSnapshot[]): StageRows {
  const final = textField(snapshots[0], 'final_output_type') ?? 'unknown';
  const unit =
    snapshots.map((snapshot) => textField(snapshot, 'output_unit_type')).find((found) => found !== null) ??
    'other';
  return {
    id,
    name: textField(snapshots[0], 'stage_name') ?? `stage_${id}`,
    stageClass: classify(final, unit),
    rows: snapshots.map((snapshot) => ({ snapshot, unit })),
  };
}

function textField(snapshot: StageSnapshot | undefined, field: string): string | null {
  const value = snapshot?.[field];
  return typeof value === 'string' && value !== '' ? value : null;
}

function classify(final: string, unit: string): StageClass {
  if (final === 'video' || final === 'videos' || unit === 'video') return 'video';
  if (final === 'image' || final === 'images' || unit === 'image') return 'image';
  if (final === 'text' || unit === 'text') return 'text';
  if (final === 'audio' || unit === 'audio') return 'audio';
  return unit === 'stream' ? 'stream' : 'other';
}

/** A field's figure > 0 as a sample of one; empty where the stage did not report it. */
export function stageFigure(row: StageRow, field: string): readonly number[] {
  const value = positiveFigure(row.snapshot[field]);
  return value === null ? [] : [value];
}
