import type { RequestMetric } from '../metric.ts';

const shared = {
  kind: 'request',
  better: 'lower',
  selectedBy: [],
  source: '`vllm bench serve --omni`, OmniInteract',
} as const;

/** First text of a session, from the start of its input. */
export const duplexStreamTtft: RequestMetric = {
  ...shared,
  key: 'duplex_stream_ttft',
  label: 'stream TTFT',
  title: 'Duplex Stream TTFT',
  unit: 'ms',
  objective: { unit: 'ms', aliases: [] },
  modality: 'text',
  doc: 'From the start of a full-duplex session’s input stream to the first text of any response: it holds the time before there was anything to answer. Not observed for sessions without speech.',
  of: ({ record }) => record.duplex?.metrics.stream?.ttftMs ?? null,
};

/** First audio of a session, from the start of its input. */
export const duplexStreamTtfp: RequestMetric = {
  ...shared,
  key: 'duplex_stream_ttfp',
  label: 'stream TTFP',
  title: 'Duplex Stream TTFP',
  unit: 'ms',
  objective: { unit: 'ms', aliases: [] },
  modality: 'audio',
  doc: 'As `duplex_stream_ttft`, to the first audio packet.',
  of: ({ record }) => record.duplex?.metrics.stream?.ttfpMs ?? null,
};

/** Real-time factor of a whole session. */
export const duplexStreamRtf: RequestMetric = {
  ...shared,
  key: 'duplex_stream_rtf',
  label: 'stream RTF',
  title: 'Duplex Stream RTF',
  unit: 'ratio',
  objective: { unit: 'ratio', aliases: [] },
  modality: 'audio',
  doc: 'From the start of a full-duplex session’s input stream to the last audio received, over the length of all audio: listening in real time is part of it.',
  of: ({ record }) => record.duplex?.metrics.stream?.rtf ?? null,
};
