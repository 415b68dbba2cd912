import type { RunMetric } from '../metric.ts';
import { perSecond } from '../run-figures.ts';

export const totalInputTokens: RunMetric = {
  kind: 'run',
  key: 'total_input_tokens',
  label: 'Total input tokens',
  title: 'Total input tokens',
  unit: 'tokens',
  modality: 'text',
  better: 'neither',
  doc: 'Prompt tokens of successful requests: as the server reports them, else as the client counted them.',
  source: '`vllm bench serve`',
  of: (run) => run.inputTokens,
};

export const totalOutputTokens: RunMetric = {
  kind: 'run',
  key: 'total_output_tokens',
  label: 'Total generated tokens',
  title: 'Total generated tokens',
  unit: 'tokens',
  modality: 'text',
  better: 'neither',
  doc: 'Output tokens of successful requests: usage or stage metrics, else the tokenizer, else 1 a reply. Never a sum over stages, whose tokens are of different kinds.',
  source: '`vllm bench serve --omni`; vLLM-Omni PR #4461',
  of: (run) => run.outputTokens,
};

export const outputThroughput: RunMetric = {
  kind: 'run',
  key: 'output_throughput',
  label: 'Output token throughput (tok/s)',
  title: 'Output token throughput',
  unit: 'tokens/s',
  modality: 'text',
  better: 'higher',
  doc: 'Total generated tokens over the duration.',
  source: '`vllm bench serve`',
  of: (run) => perSecond(run.outputTokens, run),
};

export const totalTokenThroughput: RunMetric = {
  kind: 'run',
  key: 'total_token_throughput',
  label: 'Total token throughput (tok/s)',
  title: 'Total token throughput',
  unit: 'tokens/s',
  modality: 'text',
  better: 'higher',
  doc: 'Input and generated tokens over the duration.',
  source: '`vllm bench serve`; vLLM PR #8164',
  of: (run) => perSecond(run.inputTokens + run.outputTokens, run),
};
