import type { DuplexResponseTimings } from '../../records/duplex-session.ts';
import type { SamplesMetric } from '../metric.ts';
import type { RequestFigures } from '../request-figures.ts';

function valuesOf(
  { record }: RequestFigures,
  pick: (timings: DuplexResponseTimings) => number | null,
): readonly number[] {
  return (record.duplex?.requestRows ?? []).flatMap(({ timings }) => {
    const value = timings === null ? null : pick(timings);
    return value === null ? [] : [value];
  });
}

const shared = {
  kind: 'samples',
  unit: 'ms',
  better: 'lower',
  selectedBy: [],
  fixedPercentiles: [99],
  source: '`vllm bench serve --omni`, OmniInteract',
} as const;

/** First text of each response, by the best clock there is. */
export const duplexResponseTtft: SamplesMetric = {
  ...shared,
  key: 'duplex_response_ttft',
  label: 'response TTFT',
  title: 'Duplex Response TTFT',
  modality: 'text',
  doc: 'First text of each spoken response of a full-duplex session: from the moment at which the server began the model turn that owns it, where the server says so, else from the client’s receipt of `response.created`. `source` in `duplex_request_metrics` says which.',
  of: (request) => valuesOf(request, ({ ttftMs }) => ttftMs),
};

/** First audio of each response, by the best clock there is. */
export const duplexResponseTtfp: SamplesMetric = {
  ...shared,
  key: 'duplex_response_ttfp',
  label: 'response TTFP',
  title: 'Duplex Response TTFP',
  modality: 'audio',
  doc: 'First audio packet of each spoken response of a full-duplex session; from where it is counted: see `duplex_response_ttft`.',
  of: (request) => valuesOf(request, ({ ttfpMs }) => ttfpMs),
};

/** First text of each response as the client saw it. */
export const duplexClientTtft: SamplesMetric = {
  ...shared,
  key: 'duplex_client_ttft',
  label: 'client TTFT',
  title: 'Duplex Client TTFT',
  modality: 'text',
  doc: 'From the client’s receipt of `response.created` to its receipt of the first text, for each spoken response of a full-duplex session. What the server did before it announced the response is not in it.',
  of: (request) => valuesOf(request, ({ clientTtftMs }) => clientTtftMs),
};

/** First audio of each response as the client saw it. */
export const duplexClientTtfp: SamplesMetric = {
  ...shared,
  key: 'duplex_client_ttfp',
  label: 'client TTFP',
  title: 'Duplex Client TTFP',
  modality: 'audio',
  doc: 'As `duplex_client_ttft`, to the first audio packet.',
  of: (request) => valuesOf(request, ({ clientTtfpMs }) => clientTtfpMs),
};
