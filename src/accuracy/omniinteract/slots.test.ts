import { describe, expect, test } from 'vitest';
import { secondsOf } from './annotation-values.ts';
import { buildSlots, sceneTypeOf } from './build-slots.ts';
import { decay } from './decay.ts';
import { matchChunks } from './match-chunks.ts';
import { phraseStartS, spokenText } from './spoken-text.ts';
import { readTranscript } from './transcript.ts';

test.each([
  [12, 12],
  ['12.5', 12.5],
  ['01:05', 65],
  ['1:02:03.5', 3723.5],
  ['', null],
  ['1:2:3:4', null],
  ['soon', null],
  ['1:xx', null],
  [Number.POSITIVE_INFINITY, null],
  [true, null],
  [null, null],
])('the time %j is %j s', (value, seconds) => {
  expect(secondsOf(value)).toBe(seconds);
});

const qa = (question_time: number, answer_time: number, question_text = ''): Record<string, unknown> => ({
  question_time,
  answer_time,
  question_text,
});
const window = ({ startS, answerS, endS }: { startS: number; answerS: number; endS: number }) => [
  startS,
  answerS,
  endS,
];

describe('slots', () => {
  test('turns end where the next question is asked, the last one a minute after its answer', () => {
    const slots = buildSlots({ items: [qa(30, 35), qa(5, 8), qa(5, 6)] }, 'multi_turn');
    expect(slots.map(window)).toEqual([
      [5, 6, 5],
      [5, 8, 30],
      [30, 35, 95],
    ]);
    expect(slots.map(({ slotId, turnIndex, questionType }) => [slotId, turnIndex, questionType])).toEqual([
      [1, 1, 'unknown'],
      [2, 2, 'unknown'],
      [3, 3, 'unknown'],
    ]);
  });

  test('pairs of questions: the inner one is asked and answered within the outer one', () => {
    const rows = [
      qa(0, 20, 'A'),
      qa(5, 25, 'not within A'),
      qa(8, 20, 'a'),
      qa(40, 50, 'B'),
      qa(41, 45, 'b'),
    ];
    const slots = buildSlots(rows, 'nested');
    expect(
      slots.map((slot) => [slot.questionText, slot.nestedRole, slot.nestedGroupId, ...window(slot)]),
    ).toEqual([
      ['A', 'outer', 1, 0, 20, 40],
      ['a', 'inner', 1, 8, 20, 20],
      ['B', 'outer', 2, 40, 50, 110],
      ['b', 'inner', 2, 41, 45, 50],
    ]);
    expect(() => buildSlots([qa(0, 20)], 'nested')).toThrow('failed to infer nested question pair');
  });

  test('steps start when they are due, the first one when it was asked', () => {
    const slots = buildSlots(
      {
        question_time: '00:02',
        question_text: 'How?',
        inferred_knowledge: 'left out without conversations',
        answers: [
          { answer_time: 30, answer_text: 'two', label: 'Error', interrupted: 1 },
          { answer_time: 10, answer_text: 'one' },
          { answer_text: 'never' },
        ],
      },
      '1QnA',
    );
    expect(slots.map(window)).toEqual([
      [2, 10, 30],
      [30, 30, 90],
    ]);
    expect(
      slots.map(({ questionText, questionType, stepIndex, isInterrupted }) => [
        questionText,
        questionType,
        stepIndex,
        isInterrupted,
      ]),
    ).toEqual([
      ['How?', 'step', 1, false],
      ['How?', 'error', 2, true],
    ]);
    expect(() => buildSlots({}, '1QnA')).toThrow('1QnA annotation must contain conversations[] or answers[]');
    expect(() => buildSlots([], '1QnA')).toThrow('1QnA annotation');
    expect(() => buildSlots('text', 'nested')).toThrow('must be a list');
  });

  test('scenes are known whatever the case of their letters', () => {
    expect([sceneTypeOf('1qna'), sceneTypeOf('Multi_Turn')]).toEqual(['1QnA', 'multi_turn']);
    expect(() => sceneTypeOf('duel')).toThrow("unsupported OmniInteract scene type: 'duel'");
  });
});

test.each([
  // At the peak, before it, half way, at the end, beyond; then windows without length.
  [[10, 10, 20], 1],
  [[3, 10, 20], 1],
  [[15, 10, 20], 0.5],
  [[20, 10, 20], 0],
  [[25, 10, 20], 0],
  [[10, 10, 10], 1],
  [[11, 10, 10], 0],
  [[9, 10, 5], 1],
] as const)('decay%j is %j', ([value, peak, end], worth) => {
  expect(decay(value, peak, end)).toBe(worth);
});

const transcript = (...chunks: readonly unknown[]) => readTranscript({ chunks });
const words = (...list: readonly (readonly [string, number, number])[]) =>
  list.map(([text, start, end]) => ({ text, start, end }));

describe('chunks in slots', () => {
  const slots = buildSlots([qa(0, 30), qa(10, 20)], 'nested');

  test('a chunk belongs where it begins, to the innermost; the end of a window is outside', () => {
    const { chunks } = transcript(
      { text: 'outer', timestamp: [9, 12] },
      { text: 'inner', timestamp: [10, 12] },
      { text: 'outer again', timestamp: [30, 31] },
      { text: 'nobody', timestamp: [90, 91] },
      { text: '', timestamp: [1, 2] },
      { text: 'no time' },
      'no chunk',
    );
    const { matched, unmatched } = matchChunks(slots, chunks);
    expect(matched.map(({ all }) => all.map(({ text }) => text))).toEqual([
      ['outer', 'outer again'],
      ['inner'],
    ]);
    expect(matched[0]?.core.map(({ text }) => text)).toEqual(['outer again']);
    expect(unmatched.map(({ text }) => text)).toEqual(['nobody']);
  });

  test('a chunk with words is split where the answer is due; one without is early as a whole', () => {
    const split = {
      text: 'I see. It is red',
      timestamp: [25, 12],
      aligned_words: words(
        ['red', 24, 24.5],
        ['I', 12, 13],
        ['see.', 13, 14],
        ['It', 20, 21],
        ['is', 22, 23],
      ),
    };
    const { matched } = matchChunks(slots, transcript(split).chunks);
    const inner = matched[1];
    expect(inner?.early).toMatchObject([{ text: 'I see.', startS: 12, endS: 14, effectiveStartHintS: null }]);
    expect(inner?.core).toMatchObject([
      { text: 'It is red', fullText: 'I see. It is red', startS: 20, endS: 24.5, effectiveStartHintS: 20 },
    ]);
    const { aligned_words: _, ...plain } = split;
    const whole = matchChunks(slots, transcript(plain).chunks).matched[1];
    expect([whole?.early.length, whole?.core.length]).toEqual([1, 0]);
    expect([transcript(split).timingPrecision, transcript(split, plain).timingPrecision]).toEqual([
      'word-aligned',
      'chunk-level-approximate',
    ]);
  });

  test('the phrase of an answer is found in the words, Chinese without gaps too', () => {
    const english = {
      text: 'x',
      timestamp: [20, 25],
      aligned_words: words(['It', 21, 22], ['is', 22, 23], ['Red', 23, 24]),
    };
    const chinese = { text: 'x', timestamp: [25, 29], aligned_words: words(['红', 26, 27], ['色', 27, 28]) };
    const plain = { text: 'and more', timestamp: [29.5, 29.8] };
    const core = matchChunks(slots, transcript(english, chinese, plain).chunks).matched[1]?.core ?? [];
    expect(spokenText(core)).toBe('It is Red红色and more');
    expect(phraseStartS(core, ' “is red” ')).toBe(22);
    expect(phraseStartS(core, '色and')).toBe(27);
    expect(phraseStartS(core, 'more')).toBeNull();
    expect(phraseStartS(core, 'blue')).toBeNull();
    expect(phraseStartS(core, '""')).toBeNull();
  });
});
