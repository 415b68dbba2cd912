import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JudgeRequest } from '../judge/scripted-judge.suite.ts';
import { accuracyTable } from './accuracy-table.ts';
import {
  byText,
  evaluated,
  judgedText,
  judgeKind,
  nestedRows,
  scratchFolder,
  steps,
  turnChunks,
  turns,
  writeCase,
} from './evaluate.suite.ts';

test('turns: late, low, early, spilling, interrupted and unmatched speech, counted by hand', async () => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1q1a__videos__0001--aa', 'multi_turn', turns, turnChunks);
  const { accuracy } = await evaluated([which], byText, { outputDir: join(dir, 'evaluation') });
  const file = JSON.parse(
    readFileSync(join(dir, 'evaluation', `${which.sampleId}.unified_eval.json`), 'utf8'),
  );
  const rows = file.slots;
  // Slot 1 [10, 20, 40): heard at 12 of 10…20, so 0.8 · 0.5 · 0.2; answered at 25 of 20…40, so 0.75 · 0.8 · 0.8.
  expect(rows[0].TP_ack).toBeCloseTo(0.08, 12);
  expect(rows[0].TP_core).toBeCloseTo(0.48, 12);
  expect([rows[0].FP_delta, rows[0].FN_delta]).toEqual([0, 0]);
  // Slot 2 [40, 50, 80): hallucinated, answered badly, and talked 2 s too long.
  expect([rows[1].TP_n, rows[1].FP_delta, rows[1].FN_delta, rows[1].spill_seconds]).toEqual([0, 3, 1, 2]);
  // Slot 3 [80, 90, 150), interrupted: heard at 85 of 80…90, so 0.5 · 1 · 0.2; 10 s too long; no answer expected.
  expect(rows[2].TP_n).toBeCloseTo(0.1, 12);
  expect([rows[2].FP_delta, rows[2].FN_delta, rows[2].stage_core.skipped_interrupted]).toEqual([1, 0, true]);
  expect(rows[2].interruption_diagnostic).toMatchObject({
    status: 'ok',
    has_output: true,
    partial_quality: 0.6,
    low_quality: false,
    hallucination: true,
    spill_seconds: 10,
    TP: 0.6,
    FP: 2,
    FN: 0,
  });
  expect(file.unmatched_chunks).toEqual([
    { source_chunk_id: 5, text: 'Hello there.', start: 5, end: 6, aligned_words: [] },
  ]);
  const { summary } = accuracy;
  expect(summary).toMatchObject({ num_slots: 3, Global_FP: 5, Global_FN: 1, num_unmatched_chunks: 1 });
  expect(summary.Global_TP).toBeCloseTo(0.66, 12);
  expect(summary.IA_QTF1).toBeCloseTo(1.32 / 7.32, 12);
  expect(summary.interruption).toEqual({
    interrupted_slot_count: 1,
    interrupted_no_output_count: 0,
    NOR: 0,
    PAQ: 0.6,
    CSM_SR: 1,
    CSM_AS: 10,
  });
  const { exp_f1 } = summary.paper_metrics;
  // The unmatched chunk counts in the whole and in no slice.
  expect(exp_f1.realtime).toMatchObject({ num_slots: 2, Global_FP: 1, Global_FN: 0 });
  expect(exp_f1.realtime.IA_QTF1).toBeCloseTo(1.32 / 2.32, 12);
  expect(exp_f1.proactive).toMatchObject({
    num_slots: 1,
    Global_TP: 0,
    Global_FP: 3,
    Global_FN: 1,
    IA_QTF1: 0,
  });
  expect(exp_f1.nested).toMatchObject({ num_slots: 0, IA_QTF1: null });
  expect(exp_f1.one_q1a_global.IA_QTF1).toBeCloseTo(1.32 / 6.32, 12);
  expect(accuracyTable(accuracy)).toEqual([
    '',
    '================ OmniInteract Accuracy ================',
    'Judge model:              judge-1',
    'Cases:                    1 evaluated, 0 failed, 0 skipped',
    'Scenario cases:           realtime 1, proactive 1, interrupted 1',
    'Left out:                 1 annotation row, with no place in time',
    'Timing precision:         chunk-level-approximate',
    'Global TP / FP / FN:      0.660000 / 5 / 1',
    'Precision / Recall:       0.116608 / 0.397590',
    '----------------------- IA-QTF1 -----------------------',
    '1Q1A realtime:            0.568966',
    '1Q1A proactive:           0.000000',
    '1Q1A Global:              0.208861',
    'All Global:               0.180328',
    '-------------------- Interruption ---------------------',
    'Interrupted slots:        1',
    'NOR:                      0.000000',
    'PAQ:                      0.600000',
    'CSM-SR:                   1.000000',
    'CSM-AS:                   10.000000s',
    '=======================================================',
    '',
  ]);
});

test('a question within a question, answered word by word, counted by hand', async () => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1q1a__videos__0002--bb', 'NESTED', nestedRows, [
    [
      17,
      21,
      'It is red',
      [
        ['It', 17, 17.5],
        ['is', 17.5, 18],
        ['red', 18, 20],
      ],
    ],
    [
      33,
      41,
      'now it boils',
      [
        ['now', 33, 34],
        ['it', 35, 35.5],
        ['boils', 36, 40],
      ],
    ],
  ]);
  const { accuracy } = await evaluated(
    [which],
    (request) =>
      judgedText(request) === 'It is red'
        ? '{"score":1,"trigger_phrase":"\\"RED\\""}'
        : '{"score":0.9,"trigger_phrase":"boils"}',
    { outputDir: join(dir, 'evaluation') },
  );
  // Inner [10, 15, 30): "red" at 18, so 0.8 · 1 · 0.8 = 0.64. Outer [0, 30, 90): "boils" at 36, so 0.9 · 0.9 · 0.8 = 0.648.
  const { nested, paper_metrics, Global_TP } = accuracy.summary;
  expect(Global_TP).toBeCloseTo(1.288, 12);
  expect(nested).toMatchObject({ num_pairs: 1, success_pairs: 1, missing_q1_count: 0 });
  expect(nested.NCCS).toBeCloseTo(0.64398757752, 10);
  expect(paper_metrics.exp_nested).toMatchObject({ missed_outer: 0, inner_IA_QTF1: 1, outer_IA_QTF1: 1 });
  expect(paper_metrics.exp_f1.realtime.num_slots).toBe(0);
  expect(paper_metrics.exp_f1.nested.num_slots).toBe(2);
  expect(accuracyTable(accuracy).slice(-8)).toEqual(
    [
      'All Global:               1.000000',
      '----------------------- Nested ------------------------',
      'Nested pairs:             1',
      'NCCS:                     0.643988',
      'Inner IA-QTF1:            1.000000',
      'Outer IA-QTF1:            1.000000',
      'Missed outer:             0 / 1',
      '=======================================================',
      '',
    ].slice(-8),
  );
  expect(accuracy.timing_precision).toBe('word-aligned');
});

test('steps of a procedure: later steps are worth their answer alone, and may run over', async () => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1qna__x__y--cc', '1qna', steps, [
    [12, 13, 'Let me see.'],
    [22, 24, 'Heat the pan.'],
    [46, 130, 'Turn it over.'],
  ]);
  const seen: JudgeRequest[] = [];
  const { accuracy } = await evaluated(
    [which],
    (request) => {
      seen.push(request);
      if (judgeKind(request) === 'early') return '{"flag":"Neutral","score":0.5}';
      return judgedText(request) === 'Heat the pan.' ? '{"score":1}' : '{"score":0.7,"spoiler":"true"}';
    },
    { outputDir: join(dir, 'evaluation') },
  );
  // Step 1 [10, 20, 40): 0.8 · 0.5 · 0.2 + 0.9 · 1 · 0.8 = 0.8. Step 2 [40, 40, 100): at 46, so 0.9 · 0.7 · 1 = 0.63.
  expect(accuracy.summary.Global_TP).toBeCloseTo(1.43, 12);
  expect([accuracy.summary.Global_FP, accuracy.summary.Global_FN]).toEqual([0, 0]);
  expect(accuracy.summary.scenario_case_counts['1qna']).toBe(1);
  const core = seen.find((request) => judgeKind(request) === 'core');
  expect(core?.user).toContain('<<<A pan.\n\nHow do I cook this?>>>');
  expect(core?.user).toContain('- slot 2: Turn it.');
});

test('silence: no true positive, a miss for each answer due, and no quality that nobody saw', async () => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1q1a__videos__0003--dd', 'multi_turn', turns, []);
  const { accuracy, judge } = await evaluated([which], byText, { outputDir: join(dir, 'evaluation') });
  expect(judge.requests).toEqual([]);
  expect(accuracy.summary).toMatchObject({ Global_TP: 0, Global_FP: 0, Global_FN: 2, IA_QTF1: 0 });
  expect(accuracy.summary.interruption).toMatchObject({ NOR: 1, PAQ: null, CSM_SR: null, CSM_AS: null });
  expect(accuracyTable(accuracy)).toContain('PAQ:                      n/a');
});

test('a judge that fails at one case fails that case alone, and the status says why', async () => {
  const dir = scratchFolder();
  const good = writeCase(dir, '1qna__x__y--cc', '1QnA', steps, [[22, 24, 'Heat the pan.']]);
  const bad = writeCase(dir, '1q1a__videos__0001--aa', 'multi_turn', turns, turnChunks);
  const garbled = writeCase(dir, '1q1a__videos__0004--ee', 'nested', nestedRows, [[31, 33, 'It boils.']]);
  const wrong = writeCase(dir, '1q1a__videos__0005--ff', 'opera', turns, []);
  const { accuracy } = await evaluated(
    [bad, good, garbled, { ...wrong }],
    (request) => {
      if (judgedText(request) === 'Heat the pan.') return '{"score":1}';
      return judgedText(request) === 'It boils.'
        ? 'I like it: ten out of ten'
        : { status: 500, body: 'oops' };
    },
    { outputDir: join(dir, 'evaluation'), skipped: 3 },
  );
  expect(accuracy).toMatchObject({ status: 'partial', total: 7, evaluated: 1, failed: 3, skipped: 3 });
  expect(accuracy.items).toEqual([
    expect.objectContaining({ sample_id: good.sampleId, status: 'ok' }),
    { sample_id: bad.sampleId, status: 'failed', error: 'judge returned HTTP 500: oops' },
    {
      sample_id: garbled.sampleId,
      status: 'failed',
      error: "the judge's answer holds no verdict: I like it: ten out of ten (3 times; given up)",
    },
    expect.objectContaining({ sample_id: wrong.sampleId, status: 'failed' }),
  ]);
  expect(accuracy.status_reason).toMatch(
    /^3 of 4 cases could not be judged: judge returned HTTP 500: oops; .*unsupported OmniInteract scene type: 'opera'/,
  );
  expect(accuracy.judge_calls).toMatchObject({ unreadableAnswers: 3, requests: 5, retries: 2 });
  expect(accuracy.summary.Global_TP).toBeCloseTo(0.72, 12);
  expect(readdirSync(join(dir, 'evaluation')).sort()).toEqual([
    `${good.sampleId}.unified_eval.json`,
    'unified_eval_summary.json',
  ]);
});

test('a judge that asks for years of patience is told, and its cases have no score', async () => {
  const dir = scratchFolder();
  const good = writeCase(dir, '1qna__x__y--cc', '1QnA', steps, [[22, 24, 'Heat the pan.']]);
  const bad = writeCase(dir, '1q1a__videos__0001--aa', 'multi_turn', turns, turnChunks);
  const busy = { status: 429, headers: { 'retry-after': '999999999' } };
  const { accuracy, judge } = await evaluated(
    [good, bad],
    (request) => (judgedText(request) === 'Heat the pan.' ? '{"score":1}' : busy),
    { outputDir: join(dir, 'evaluation') },
  );
  expect(accuracy).toMatchObject({ status: 'partial', evaluated: 1, failed: 1 });
  expect(accuracy.status_reason).toContain('it asks to come back in 999999999 s');
  expect(accuracy.summary).toMatchObject({ num_slots: 2, num_unmatched_chunks: 0 });
  expect(judge.requests).toHaveLength(2);
});

test('scores off the scale count as its ends, and are counted, also where they are taken over', async () => {
  const dir = scratchFolder();
  const outputDir = join(dir, 'evaluation');
  const which = writeCase(dir, '1qna__x__y--cc', '1QnA', steps, [
    [12, 13, 'Let me see.'],
    [22, 24, 'Heat the pan.'],
  ]);
  const first = await evaluated(
    [which],
    (request) => (judgeKind(request) === 'early' ? '{"flag":"Neutral","score":-1}' : '{"score":7}'),
    { outputDir },
  );
  // Nothing for the early part, and all for the core: at 22 of [20, 20, 40), so 0.9 · 1 · 0.8.
  expect(first.accuracy.summary.Global_TP).toBeCloseTo(0.72, 12);
  expect(first.accuracy).toMatchObject({ status: 'ok', off_scale_scores: 2 });
  expect(accuracyTable(first.accuracy)).toContain('Scores off the scale:     2, taken as 0 or 1');
  const file = JSON.parse(readFileSync(join(outputDir, `${which.sampleId}.unified_eval.json`), 'utf8'));
  expect([file.slots[0].stage_early, file.slots[0].stage_core]).toMatchObject([
    { S_ack: 0, off_scale_score: -1 },
    { S_core: 1, off_scale_score: 7 },
  ]);
  const { judge_base_url: baseUrl } = first.accuracy;
  const judge = { baseUrl, model: 'judge-1', apiKey: 'EMPTY', timeoutS: 10, maxTokens: 512 };
  const again = await evaluated([which], () => '{"score":0}', { outputDir, skipExisting: true, judge });
  expect(again.accuracy).toMatchObject({ reused: 1, off_scale_scores: 2 });
});

test('nothing judged at all is a failure', async () => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1q1a__videos__0001--aa', 'multi_turn', turns, turnChunks);
  rmSync(which.transcriptPath);
  const { accuracy } = await evaluated([which], byText, { outputDir: join(dir, 'evaluation') });
  expect(accuracy).toMatchObject({ status: 'failed', evaluated: 0, failed: 1 });
  expect(accuracy.status_reason).toContain('the transcript cannot be read');
  expect(accuracy.summary.IA_QTF1).toBeNull();
});

test('what is stored is taken over while nothing that it was made from has changed', async () => {
  const dir = scratchFolder();
  const outputDir = join(dir, 'evaluation');
  const which = writeCase(dir, '1qna__x__y--cc', '1QnA', steps, [[22, 24, 'Heat the pan.']]);
  const first = await evaluated([which], () => '{"score":1}', { outputDir });
  const judge = { baseUrl: first.judge.url, model: 'judge-1', apiKey: 'EMPTY', timeoutS: 10, maxTokens: 512 };
  const again = await evaluated([which], () => '{"score":0}', { outputDir, skipExisting: true, judge });
  expect(again.accuracy).toMatchObject({ status: 'ok', evaluated: 1, reused: 1 });
  expect(again.accuracy.summary).toEqual(first.accuracy.summary);
  expect(again.judge.requests).toEqual([]);
  const other = { ...judge, model: 'judge-2' };
  const renamed = await evaluated([which], () => '{"score":1}', {
    outputDir,
    skipExisting: true,
    judge: other,
  });
  expect(renamed.accuracy.reused).toBe(0);
  writeFileSync(which.transcriptPath, readFileSync(which.transcriptPath, 'utf8').replace('Heat', 'Cool'));
  const changed = await evaluated([which], () => '{"score":1}', {
    outputDir,
    skipExisting: true,
    judge: other,
  });
  expect(changed.accuracy.reused).toBe(0);
  writeFileSync(join(outputDir, `${which.sampleId}.unified_eval.json`), '{"status":"ok"');
  const torn = await evaluated([which], () => '{"score":1}', { outputDir, skipExisting: true, judge: other });
  expect(torn.accuracy).toMatchObject({ reused: 0, evaluated: 1 });
});
