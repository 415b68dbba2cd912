import { expect, it } from 'vitest';
import { readCaseFile } from '../bench/cases/case-file.ts';
import { benchWords } from '../bench/cases/case-session.ts';
import { UsageError } from '../foundation/errors.ts';
import { checkBenchServe } from './bench-serve-command.ts';

const model = ['--model', 'm', '--base-url', 'http://127.0.0.1:1'];

it.each<[string, readonly string[], Record<string, string>, string]>([
  ['an unknown flag', [...model, '--nmu-prompts', '1'], {}, '--nmu-prompts'],
  ['a value of another kind', [...model, '--num-prompts', 'many'], {}, "'many'"],
  [
    'flags that do not go together',
    [...model, '--dataset-name', 'omniinteract'],
    {},
    'OmniInteract requires',
  ],
  ['a word that is no flag', [...model, 'x'], {}, "unexpected argument 'x'"],
  ['a request for help', ['--help'], {}, '--help measures nothing'],
  ['a variable of another kind', model, { OMNIMETER_NUM_PROMPTS: 'many' }, "'many'"],
])('a check refuses %s', async (_, argv, env, why) => {
  const refused = checkBenchServe(argv, env);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(why);
});

it('a check takes what the case file of the package starts', async () => {
  const path = new URL('../../cases/minicpmo-4-5-omniinteract.yaml', import.meta.url).pathname;
  const { cases } = readCaseFile(path, '/results', { REF_AUDIO: path });
  expect(cases.length).toBeGreaterThan(0);
  for (const which of cases) await checkBenchServe(benchWords(which), which.env);
});
