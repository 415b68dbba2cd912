import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { plotPareto, plotSweep } from './plot-sweep.ts';

const dir = mkdtempSync(join(tmpdir(), 'omnimeter-plot-'));
afterAll(() => rmSync(dir, { recursive: true }));
const io = { stdout: () => {}, stderr: () => {} };
const options = {
  ...{ dir, figDir: 'figures', figBy: ['model'], rowBy: [], colBy: [], curveBy: [], filterBy: '', binBy: '' },
  ...{ varX: 'request_throughput', varY: 'p99_e2el_ms', figName: 'F', dryRun: false },
  ...({ scaleX: 'linear', scaleY: 'log' } as const),
};

beforeAll(() => {
  for (const [model, concurrency] of [
    ['a/b', 1],
    ['a/b', 2],
    ['c', 2],
  ] as const) {
    const folder = join(dir, `BENCH--${concurrency}-${model.replace('/', '_')}`);
    mkdirSync(folder);
    const run = {
      model,
      max_concurrency: concurrency,
      request_throughput: concurrency,
      p99_e2el_ms: 9,
      output_throughput: 5,
    };
    writeFileSync(join(folder, 'summary.json'), JSON.stringify([run, { ...run, request_rate: 'inf' }]));
  }
});

describe('plots of a sweep', () => {
  it('are PNG, SVG and a page below the folder', async () => {
    await plotSweep(options, io);
    const { format, width } = await sharp(join(dir, 'figures/F-model=a_b.png')).metadata();
    expect(format).toBe('png');
    expect(width).toBeGreaterThan(600);
    expect(readFileSync(join(dir, 'figures/F-model=c.svg'), 'utf8')).toMatch(/^<svg /);
    const page = readFileSync(join(dir, 'figures/F.html'), 'utf8');
    expect(page.match(/<svg /g)).toHaveLength(3);
    expect(page).not.toMatch(/NaN|undefined/);
  });

  it('of the front lie in a folder of their own', async () => {
    await plotPareto(dir, { userCountVar: 'max_concurrency', gpuCountVar: null, dryRun: true }, io);
    expect(existsSync(join(dir, 'pareto'))).toBe(false);
    await plotPareto(dir, { userCountVar: 'max_concurrency', gpuCountVar: null, dryRun: false }, io);
    expect(existsSync(join(dir, 'pareto/PARETO.png'))).toBe(true);
  });

  it('are refused where a filter leaves no run', async () => {
    const kept = { ...options, figName: 'G', filterBy: 'max_concurrency<2', dryRun: true };
    await plotSweep(kept, io);
    const none = { ...kept, filterBy: 'max_concurrency>99', dryRun: false };
    await expect(plotSweep(none, io)).rejects.toThrow(/of the 6 runs in .* none is left/);
    await expect(plotSweep(none, io)).rejects.toThrow(UsageError);
    expect(existsSync(join(dir, 'figures/G.html'))).toBe(false);
  });

  it('name what is missing', async () => {
    await expect(plotSweep({ ...options, varX: 'request_thruput' }, io)).rejects.toThrow(UsageError);
    await expect(plotSweep({ ...options, dir: join(dir, 'figures') }, io)).rejects.toThrow(InputFileError);
  });
});
