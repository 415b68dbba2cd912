import type { RequestMetric } from '../metric.ts';
import { firstContentMs, opensWithReasoning } from '../token-events.ts';

/** Time to first content of replies that reason first. */
export const timeToFirstContent: RequestMetric = {
  kind: 'request',
  key: 'time_to_first_content',
  label: 'time to first content',
  title: 'Time to First Content',
  unit: 'ms',
  modality: 'text',
  better: 'lower',
  selectedBy: [],
  objective: {
    unit: 'ms',
    aliases: [],
    vacuous: ({ record }) => !opensWithReasoning(record.events),
  },
  doc: 'From sending the request to the first token of the answer itself, for replies that open with reasoning; their TTFT is that of the first reasoning token. Not observed for other replies.',
  source: 'vllm-project/guidellm issue #737, sgl-project/genai-bench issue #81',
  of: ({ record, startMs }) => {
    if (!opensWithReasoning(record.events)) return null;
    const contentMs = firstContentMs(record.events);
    return contentMs === null ? null : contentMs - startMs;
  },
};
