import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import type { StageOutput } from '../engine/stage-engine.ts';
import { ChunkAdapter, type ChunkRule } from './chunk-adapter.ts';

function frames(count: number): StageOutput[] {
  return Array.from({ length: count }, (_, index) => ({
    dueMs: index * 10,
    units: 1,
    text: null,
    audio: null,
    artifact: null,
    kv: null,
    stepMs: 10,
    finishReason: index === count - 1 ? 'stop' : null,
    stopReason: null,
  }));
}

function chunks(rule: ChunkRule, count: number): { units: number; final: boolean; readyMs: number }[] {
  const adapter = new ChunkAdapter(rule, 'r');
  return frames(count).flatMap((frame) => {
    const chunk = adapter.push(frame);
    return chunk === null ? [] : [{ units: chunk.units, final: chunk.final, readyMs: chunk.readyMs }];
  });
}

describe('chunks', () => {
  property([
    fc.integer({ min: 1, max: 500 }),
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 1, max: 60 }),
  ])(
    'hold every frame once, the first so many, the next so many, the last the rest',
    (count, units, initial) => {
      const cut = chunks({ kind: 'units', units, initial }, count);
      expect(cut.reduce((sum, chunk) => sum + chunk.units, 0)).toBe(count);
      expect(cut.map(({ final }) => final)).toEqual(cut.map((_, index) => index === cut.length - 1));
      const full = cut.slice(0, -1).map((chunk) => chunk.units);
      expect(full).toEqual(full.map((_, index) => (index === 0 ? initial : units)));
      expect(cut).toHaveLength(1 + Math.max(0, Math.ceil((count - initial) / units)));
    },
  );

  test('of each output, and of the whole', () => {
    expect(chunks({ kind: 'each' }, 3).map(({ units }) => units)).toEqual([1, 1, 1]);
    expect(chunks({ kind: 'whole' }, 3)).toEqual([{ units: 3, final: true, readyMs: 20 }]);
  });
});
