import { describe, expect, it } from 'vitest';
import type { ParameterItem } from '../../bench/sweep/parameter-file.ts';
import type { SweepOptions } from '../../bench/sweep/sweep-options.ts';
import { UsageError } from '../../foundation/errors.ts';
import { checkSweepCommands } from './check-sweep-commands.ts';
import { benchCommand, serveCommand } from './sweep-command-options.ts';

function check(
  bench: string,
  benchItems: readonly ParameterItem[],
  server: { readonly serve?: string; readonly items?: readonly ParameterItem[] } = {},
): Promise<void> {
  const options: SweepOptions = {
    serve: server.serve === undefined ? null : serveCommand(server.serve.split(' ')),
    bench: benchCommand(bench.split(' ')),
    ...{ serveItems: server.items ?? [{}], benchItems, links: [], afterBench: null, showStdout: false },
    ...{ serverReadyTimeoutS: 1, experimentDir: 'e', numRuns: 1, warmupNumPrompts: 0, resumeHint: null },
    ...{ continueOnError: false, dryRun: true, resume: false },
  };
  return checkSweepCommands(options, {});
}

const bench = 'vllm bench serve --model m --dataset-name random --num-prompts 4';

describe('commands of a sweep that start this program', () => {
  it.each([
    [[{ max_concurrency: 1 }, { request_rate: Number.POSITIVE_INFINITY }, {}]],
    [[{ _benchmark_name: 'x', save_result: true, extra_body: { modalities: ['text'] } }]],
  ])('pass with good parameters %#', async (items) => {
    await expect(check(bench, items)).resolves.toBeUndefined();
  });

  it.each([
    [{ max_concurency: 1 }, /--bench-params, setting 'max_concurency=1': .*--max-concurrency/],
    [{ _benchmark_name: 'x', num_prompts: 'many' }, /setting 'x': .*many/],
    [{ request_rate: -1 }, /setting 'request_rate=-1'/],
    [{ dataset_name: 'randm' }, /setting 'dataset_name=randm'/],
  ])('are refused with %j', async (item, message) => {
    await expect(check(bench, [{}, item])).rejects.toThrow(message);
    await expect(check(bench, [{}, item])).rejects.toThrow(UsageError);
  });

  it('are refused for a flag of the command itself, and of the server', async () => {
    await expect(check(`${bench} --nmu-runs 3`, [{}])).rejects.toThrow(
      /'omnimeter bench serve …': .*nmu-runs/,
    );
    const items = [{ max_num_seqs: 4 }, { max_num_seqs: 'x' }];
    await expect(check(bench, [{}], { serve: 'omnimeter serve m', items })).rejects.toThrow(
      /--serve-params, setting 'max_num_seqs=x'/,
    );
  });

  it('of other programs are not judged', async () => {
    await expect(
      check('/opt/vllm bench serve --strange', [{ odd: 1 }], { serve: 'vllm serve m --strange' }),
    ).resolves.toBeUndefined();
  });
});
