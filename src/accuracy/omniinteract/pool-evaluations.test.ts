import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from './evaluate.suite.ts';
import { poolEvaluations } from './pool-evaluations.ts';

const metric = (num_slots: number, Global_TP: number, Global_FP: number, Global_FN: number) => ({
  num_slots,
  Global_TP,
  Global_FP,
  Global_FN,
});

function evaluation(dir: string, name: string, value: unknown): string {
  mkdirSync(join(dir, name, 'evaluation'), { recursive: true });
  writeFileSync(join(dir, name, 'evaluation', 'unified_eval_summary.json'), JSON.stringify(value));
  return join(dir, name);
}

const run = (counts: ReturnType<typeof metric>, more = {}) => ({
  status: 'ok',
  evaluated: 4,
  summary: { ...counts, paper_metrics: { exp_f1: { realtime: counts } } },
  ...more,
});

test('counts are pooled, not scores, and the least score decides', () => {
  const dir = scratchFolder();
  const a = evaluation(dir, 'a', run(metric(10, 4, 2, 6)));
  const b = evaluation(dir, 'b', run(metric(2, 0, 10, 2)));
  // 2·4 / (2·4 + 12 + 8) = 8 / 28
  const { pooled, broken, exp_f1, runs } = poolEvaluations([a, b], 0.285);
  expect(pooled).toMatchObject({ num_slots: 12, Global_TP: 4, Global_FP: 12, Global_FN: 8 });
  expect(pooled.IA_QTF1).toBeCloseTo(8 / 28, 12);
  expect(exp_f1.realtime).toEqual(pooled);
  expect(broken).toEqual([]);
  expect(runs.map(({ metric: each }) => each.IA_QTF1)).toEqual([expect.closeTo(0.5, 12), 0]);
  const [why] = poolEvaluations([a, b], 0.286).broken;
  expect(why).toMatch(/^All Global IA-QTF1 is 0\.2857\d*, below 0\.286$/);
  expect(poolEvaluations([a, b], null).broken).toEqual([]);
});

test('a run that was judged in part, or not at all, breaks the gate', () => {
  const dir = scratchFolder();
  const a = evaluation(dir, 'a', run(metric(10, 9, 0, 0), { status: 'partial', status_reason: '1 of 4 …' }));
  const b = evaluation(dir, 'b', run(metric(0, 0, 0, 0), { evaluated: 0 }));
  const { broken } = poolEvaluations([a, b], 0.2);
  expect(broken).toEqual([
    expect.stringContaining('status is partial and not ok (1 of 4 …)'),
    expect.stringContaining('no case was judged'),
  ]);
});

test('a result of the benchmark is read for the evaluation in it', () => {
  const path = join(scratchFolder(), 'result.json');
  writeFileSync(path, JSON.stringify({ omniinteract: { accuracy: run(metric(1, 1, 0, 0)) } }));
  expect(poolEvaluations([path], 1).broken).toEqual([]);
  writeFileSync(path, '{"mean_ttft_ms":3}');
  expect(() => poolEvaluations([path], 1)).toThrow('holds no evaluation of OmniInteract');
  expect(() => poolEvaluations([`${path}.gone`], 1)).toThrow('cannot be read');
});

const state = (text: string) => ({ summary: text, evaluated: 4, status: 'ok' });

test.each([
  ['{"num_slots":9,"Global_TP":1,"Global_FP":0,"Global_FN":"x"}', 'summary.Global_FN is "x"'],
  ['{"num_slots":9,"Global_TP":1,"Global_FP":0,"Global_FN":null}', 'summary.Global_FN is null'],
  ['{"num_slots":9,"Global_TP":1,"Global_FP":5e400,"Global_FN":1}', 'summary.Global_FP is Infinity'],
  ['{"num_slots":9,"Global_TP":1,"Global_FP":-1,"Global_FN":1}', 'summary.Global_FP is -1'],
  ['{"num_slots":9,"Global_TP":1,"Global_FP":0.5,"Global_FN":1}', 'summary.Global_FP is 0.5'],
  ['{"num_slots":9,"Global_TP":1,"Global_FP":0}', 'summary.Global_FN is missing'],
  [
    '{"num_slots":9,"Global_TP":9.5,"Global_FP":0,"Global_FN":0}',
    'summary.Global_TP is 9.5; expected a number',
  ],
  ['{"Global_TP":1,"Global_FP":0,"Global_FN":0}', 'summary.num_slots is missing'],
  ['[]', 'summary is []'],
  [
    '{"num_slots":1,"Global_TP":1,"Global_FP":0,"Global_FN":0,"paper_metrics":{"exp_f1":{"one_qna":7}}}',
    'summary.paper_metrics.exp_f1.one_qna is 7',
  ],
])('a count that is none is no 0: %s', (summary, why) => {
  const path = join(scratchFolder(), 'e.json');
  writeFileSync(path, JSON.stringify(state('*')).replace('"*"', summary));
  expect(() => poolEvaluations([path], null)).toThrow(`${path}: ${why}`);
});

test('an evaluation that broke off has no counts, and breaks the gate by its status', () => {
  const path = join(scratchFolder(), 'e.json');
  writeFileSync(path, '{"omniinteract":{"accuracy":{"status":"failed","error":"no disk"}}}');
  expect(poolEvaluations([path], 0).broken).toContain(`${path}: status is failed and not ok (no disk)`);
  writeFileSync(path, '{"status":"ok","evaluated":"4","summary":{}}');
  expect(() => poolEvaluations([path], 0)).toThrow(`${path}: evaluated is "4"; expected a whole number`);
});

test('a slice that some run does not state is no slice of all', () => {
  const dir = scratchFolder();
  const a = evaluation(dir, 'a', run(metric(10, 4, 2, 6)));
  const b = evaluation(dir, 'b', { ...run(metric(2, 1, 1, 1)), summary: metric(2, 1, 1, 1) });
  expect(Object.keys(poolEvaluations([a], null).exp_f1)).toEqual(['realtime']);
  expect(poolEvaluations([a, b], null).exp_f1).toEqual({});
});

test('a run counts once, under whichever names it is given', () => {
  const dir = scratchFolder();
  const a = evaluation(dir, 'a', run(metric(10, 4, 2, 6)));
  const file = join(a, 'evaluation', 'unified_eval_summary.json');
  symlinkSync(a, join(dir, 'link'));
  for (const other of [a, file, join(a, 'evaluation'), join(dir, 'link')])
    expect(() => poolEvaluations([a, other], null)).toThrow(`${other} is the same run as ${a}`);
  // A copy may be another run that came out the same.
  const copy = evaluation(dir, 'copy', run(metric(10, 4, 2, 6)));
  expect(poolEvaluations([a, copy], null).warnings).toEqual([
    expect.stringMatching(/copy.* holds the very evaluation that .*a\/.* holds/),
  ]);
});
