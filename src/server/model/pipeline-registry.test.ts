import { describe, expect, test } from 'vitest';
import { pipelineForModel, UnknownModelError } from './pipeline-registry.ts';

describe('a model is known by the last segment of its path or id', () => {
  test.each([
    ['Qwen/Qwen3-Omni-30B-A3B-Instruct', 'qwen3_omni'],
    ['Qwen3-Omni-30B-A3B-Instruct', 'qwen3_omni'],
    ['/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct', 'qwen3_omni'],
    ['/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct/', 'qwen3_omni'],
    ['C:\\models\\qwen3-omni-30b-a3b-instruct', 'qwen3_omni'],
    ['Qwen/Qwen2.5-7B-Instruct', 'text_llm'],
    ['somebody/Qwen3-30B-A3B-Instruct-2507', 'text_llm'],
    ['Qwen/Qwen2.5-0.5B', 'text_llm'],
  ])('%s', (model, name) => {
    expect(pipelineForModel(model).name).toBe(name);
  });
});

test('another model is refused with the nearest and all known ids', () => {
  expect(() => pipelineForModel('Qwen/Qwen3-Omni-30B-A3B-Instrukt')).toThrow(
    /Did you mean Qwen\/Qwen3-Omni-30B-A3B-Instruct\?.*Qwen\/Qwen2\.5-7B-Instruct/s,
  );
  expect(() => pipelineForModel('openai/gpt-oss-120b')).toThrow(UnknownModelError);
  expect(() => pipelineForModel('')).toThrow(UnknownModelError);
});
