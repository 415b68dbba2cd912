import { describe, expect, test } from 'vitest';
import { chooseConverted, chooseFiles } from './choose-files.ts';

const train = { subset: null, split: 'train' };

describe('a repository’s own files', () => {
  test.each([
    [
      [
        'README.md',
        'data/train-00000-of-00002.parquet',
        'data/train-00001-of-00002.parquet',
        'data/test-0.parquet',
      ],
    ],
    [['train/0.parquet', 'train/1.parquet', 'test/0.parquet', 'dataset_infos.json']],
  ])('of a split by name: %j', (files) => {
    const chosen = chooseFiles(files, train, 'x');
    expect(chosen).toHaveLength(2);
    expect(chosen.every((name) => name.includes('train'))).toBe(true);
  });

  test('validation has many names', () => {
    for (const name of ['val.jsonl', 'data/validation-0.parquet', 'dev.json', 'valid/0.parquet'])
      expect(chooseFiles([name, 'train.jsonl'], { subset: null, split: 'validation' }, 'x')).toEqual([name]);
  });

  test('a name within another word is none', () => {
    expect(() => chooseFiles(['trainer_test.jsonl', 'strain_test.jsonl'], train, 'x')).toThrow(
      /split "train"/,
    );
  });

  test('without any split’s name all is train', () => {
    expect(chooseFiles(['b.jsonl', 'a.jsonl', 'LICENSE'], train, 'x')).toEqual(['a.jsonl', 'b.jsonl']);
    expect(() => chooseFiles(['b.jsonl', 'a.jsonl'], { subset: null, split: 'test' }, 'x')).toThrow(
      /no file of the split "test"\. It has: b\.jsonl, a\.jsonl\./,
    );
    expect(chooseFiles(['questions.jsonl'], { subset: null, split: 'test' }, 'x')).toEqual([
      'questions.jsonl',
    ]);
  });

  test('of a subset', () => {
    const files = ['clean/test-0.parquet', 'other/test-0.parquet'];
    expect(chooseFiles(files, { subset: 'clean', split: 'test' }, 'x')).toEqual(['clean/test-0.parquet']);
    expect(() => chooseFiles(files, { subset: 'noisy', split: 'test' }, 'x')).toThrow(
      /no file of the subset "noisy"/,
    );
  });

  test('the same rows in two formats are read once', () => {
    expect(chooseFiles(['train.jsonl', 'train.parquet'], train, 'x')).toEqual(['train.parquet']);
  });

  test('no rows at all', () => {
    expect(() => chooseFiles(['a.zip', 'config.json'], train, 'data set "x"')).toThrow(
      /data set "x" has no \.parquet/,
    );
  });
});

describe('the hub’s Parquet', () => {
  const files = [
    'default/partial-train/0000.parquet',
    'default/test/0000.parquet',
    'b/train/0001.parquet',
    'b/train/0000.parquet',
  ];

  test('of a subset and split, the default where none is named', () => {
    expect(chooseConverted(files, train, 'x')).toEqual({
      names: ['default/partial-train/0000.parquet'],
      partial: true,
    });
    expect(chooseConverted(files, { subset: 'b', split: 'train' }, 'x')).toEqual({
      names: ['b/train/0000.parquet', 'b/train/0001.parquet'],
      partial: false,
    });
  });

  test('what there is not is said', () => {
    expect(() => chooseConverted(files, { subset: 'c', split: 'train' }, 'x')).toThrow(/It has: default, b/);
    expect(() => chooseConverted(files, { subset: 'b', split: 'test' }, 'x')).toThrow(/It has: train/);
  });
});
