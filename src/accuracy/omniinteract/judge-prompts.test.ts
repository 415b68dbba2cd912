import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from './evaluate.suite.ts';
import { fillPrompt, promptsOf } from './judge-prompts.ts';
import { ownPrompts } from './own-prompts.ts';
import { readPromptsFile } from './read-prompts-file.ts';
import { readCoreVerdict, readEarlyVerdict, readPartialVerdict } from './verdicts.ts';

test('each prompt names the keys that its judge is to give, and no other judge is to', () => {
  const { early, core, interrupted } = ownPrompts;
  expect(early.system).toMatch(/"flag".*"FP_Hallucination"/);
  expect(core.system).toMatch(/"trigger_phrase"/);
  expect(interrupted.system).toMatch(/"hallucination"/);
  expect([core.system, interrupted.system].join()).not.toMatch(/flag/);
  expect([early.system, interrupted.system].join()).not.toMatch(/trigger_phrase/);
});

test('fields are filled once: what a model said is no template', () => {
  const template = { system: 'Plain {question}', user: '{{"q": "{question}"}} {early_text}' };
  expect(fillPrompt(template, { question: '{early_text}$&', early_text: 'hm' })).toEqual({
    system: 'Plain {question}',
    user: '{"q": "{early_text}$&"} hm',
  });
});

test('prompts of a file carry its source', () => {
  const path = join(scratchFolder(), 'prompts.yaml');
  const judge = 'system: s\n  user: "Q {question}"';
  writeFileSync(
    path,
    `protocol_source: org/repo@1\nearly:\n  ${judge}\ncore:\n  ${judge}\ninterrupted:\n  ${judge}\n`,
  );
  expect(readPromptsFile(path)).toMatchObject({
    protocolSource: 'org/repo@1',
    core: { user: 'Q {question}' },
  });
  expect(readPromptsFile(path).sha256).not.toBe(ownPrompts.sha256);
  expect(() => readPromptsFile(`${path}.gone`)).toThrow('the prompts cannot be read');
});

test.each([
  [[], 'expected an object'],
  [{ early: {} }, 'protocol_source is missing'],
  [{ protocol_source: 'x' }, 'early: expected system and user'],
  [{ protocol_source: 'x', early: { system: '', user: '{quest}' } }, '{quest} is no field of a slot'],
])('refuses %j', (value, why) => {
  expect(() => promptsOf(value, 'p.yaml')).toThrow(why);
});

const offScale = ({ offScaleScore }: { offScaleScore: number | null }) =>
  offScaleScore === null ? [] : [offScaleScore];

test.each([
  ['{"flag":"Neutral","score":0.4}', ['neutral', 0.4]],
  ['{"flag":"Neutral"}', ['neutral', 1]],
  ['{"flag":"neutral","score":"high"}', ['neutral', 0]],
  ['{"flag":"neutral","score":7}', ['neutral', 1, 7]],
  ['{"flag":"neutral","score":"-0.1"}', ['neutral', 0, -0.1]],
  ['{"flag":"neutral","score":1e308}', ['neutral', 1, 1e308]],
  ['{"flag":"neutral","score":1e999}', ['neutral', 0]],
  ['{"flag":"fp hallucination","score":1}', ['hallucination', 0]],
  ['{"flag":"unsure","score":1}', null],
  ['Neutral', null],
])('early: %s', (raw, expected) => {
  const verdict = readEarlyVerdict(raw);
  expect(verdict && [verdict.category, verdict.score, ...offScale(verdict)]).toEqual(expected);
});

test.each([
  ['{"score":"0.75","trigger_phrase":" red "}', [0.75, 'red', 'llm_json']],
  ['{"score":-3}', [0, '', 'llm_json', -3]],
  ['{"score":1}', [1, '', 'llm_json']],
  ['Score: 0.6 of 1', [0.6, '', 'llm_float_text']],
  ['{"score":null,"trigger_phrase":"red","x":0.5}', [0.5, 'red', 'llm_float_text']],
  ['Wrong, it boils at 12 s.', null],
  ['{"score":""}', null],
])('core: %s', (raw, expected) => {
  const verdict = readCoreVerdict(raw);
  expect(
    verdict && [verdict.score, verdict.triggerPhrase, verdict.parseSource, ...offScale(verdict)],
  ).toEqual(expected);
});

test.each([
  ['{"score":0.5,"hallucination":"yes"}', [0.5, true]],
  ['{"score":2}', [1, false, 2]],
  ['{"hallucination":true}', null],
  ['0.5', null],
])('partial: %s', (raw, expected) => {
  const verdict = readPartialVerdict(raw);
  expect(verdict && [verdict.score, verdict.hallucination, ...offScale(verdict)]).toEqual(expected);
});
