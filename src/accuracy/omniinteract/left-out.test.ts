import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accuracyTable } from './accuracy-table.ts';
import {
  byText,
  evaluated,
  nestedRows,
  scratchFolder,
  steps,
  turnChunks,
  turns,
  writeCase,
} from './evaluate.suite.ts';

test.each([
  ['multi_turn', [], 'the annotation asks nothing'],
  ['multi_turn', {}, 'the annotation asks nothing'],
  ['nested', { items: [] }, 'the annotation asks nothing'],
  [
    'multi_turn',
    [{ question_time: null, answer_time: 5 }, 7],
    'none of the 2 rows of the annotation has readable',
  ],
  ['1QnA', { question_time: 1, answers: [] }, 'the annotation asks nothing'],
  ['1QnA', { answers: [{ answer_time: 'soon' }] }, 'none of the 1 rows'],
])(
  '%s %j: a case without a slot is not judged, and what it says is no fault',
  async (scene, annotation, why) => {
    const dir = scratchFolder();
    const which = writeCase(dir, '1q1a__videos__0001--aa', scene, annotation, turnChunks);
    const good = writeCase(dir, '1qna__x__y--cc', '1QnA', steps, [[22, 24, 'Heat the pan.']]);
    const { accuracy } = await evaluated([which, good], () => '{"score":1}', { outputDir: join(dir, 'e') });
    expect(accuracy).toMatchObject({ status: 'partial', evaluated: 1, failed: 1 });
    expect(accuracy.status_reason).toContain(`annotation.json: ${why}`);
    expect(accuracy.summary).toMatchObject({ num_unmatched_chunks: 0, Global_FP: 0 });
  },
);

test.each([
  ['{}', 'a transcript must be a JSON object with chunks[]'],
  ['{"text":"Red.","chunks":null}', 'a transcript must be a JSON object with chunks[]'],
  [
    '{"chunks":[{"text":"Red.","timestamp":[null,null]},{"text":"Blue."}]}',
    'none of its 2 chunks has text and a',
  ],
])('%s: a transcript without times is no silence', async (transcript, why) => {
  const dir = scratchFolder();
  const which = writeCase(dir, '1q1a__videos__0001--aa', 'multi_turn', turns, []);
  writeFileSync(which.transcriptPath, transcript);
  const { accuracy } = await evaluated([which], () => '{"score":1}', { outputDir: join(dir, 'e') });
  expect(accuracy).toMatchObject({ status: 'failed', evaluated: 0, failed: 1 });
  expect(accuracy.status_reason).toContain(`wav_transcript.json: ${why}`);
});

test('what cannot be placed in time is left out and counted, also where it is taken over', async () => {
  const dir = scratchFolder();
  const outputDir = join(dir, 'evaluation');
  const rows = [...nestedRows, { question_time: 50, answer_time: null }, null];
  const which = writeCase(dir, '1q1a__videos__0001--aa', 'nested', rows, []);
  const chunks = [
    {
      text: 'It is red',
      timestamp: [17, 21],
      aligned_words: [{ text: 'It', start: 17, end: 18 }, { text: 'is' }],
    },
    { text: 'when?', timestamp: [null, 21] },
    { text: 'never', timestamp: [3] },
    { text: '', timestamp: null },
    'lost',
  ];
  writeFileSync(which.transcriptPath, JSON.stringify({ chunks }));
  const first = await evaluated([which], () => '{"score":1}', { outputDir });
  const left_out = { annotation_rows: 2, transcript_chunks: 3, transcript_words: 1 };
  expect(first.accuracy).toMatchObject({ status: 'ok', left_out, items: [{ left_out }] });
  expect(accuracyTable(first.accuracy)).toContain(
    'Left out:                 2 annotation rows, 3 chunks, 1 word, with no place in time',
  );
  const { judge_base_url: baseUrl } = first.accuracy;
  const judge = { baseUrl, model: 'judge-1', apiKey: 'EMPTY', timeoutS: 10, maxTokens: 512 };
  const again = await evaluated([which], () => '{"score":0}', { outputDir, skipExisting: true, judge });
  expect(again.accuracy).toMatchObject({ reused: 1, left_out });
});

test('a run in which there is nothing to judge is not well judged', async () => {
  const outputDir = join(scratchFolder(), 'evaluation');
  const { accuracy } = await evaluated([], byText, { outputDir, skipped: 2 });
  expect(accuracy).toMatchObject({ status: 'failed', total: 2, evaluated: 0, failed: 0, skipped: 2 });
  expect(accuracy.status_reason).toBe(
    "there is no case to judge: none of the run's 2 cases succeeded and is eligible",
  );
  const empty = await evaluated([], byText, { outputDir });
  expect(empty.accuracy).toMatchObject({ status: 'failed', status_reason: 'there is no case to judge' });
});
