import { z } from 'zod';

const figure = z.number().nullable();
const count = z.number().int().nonnegative();
const statistic = z.strictObject({ count, mean: z.number(), p50: z.number(), p99: z.number() }).nullable();
const plain = z.record(z.string(), z.unknown());
const origins = z.strictObject({
  ttft: z.string(),
  ttfp: z.string(),
  rtf: z.string(),
  tpot: z.string().exactOptional(),
});

const row = z.strictObject({
  requestIndex: count,
  responseId: z.string(),
  timings: z
    .strictObject({
      source: z.enum(['server_request_start_and_client_receive', 'client_monotonic_receive']),
      origins,
      ttftMs: figure,
      ttfpMs: figure,
      audioGenerationMs: figure,
      audioDurationMs: z.number(),
      rtf: figure,
      clientTtftMs: figure,
      clientTtfpMs: figure,
    })
    .nullable(),
  stageZero: z
    .strictObject({
      outputTokenCount: count.nullable(),
      ttftMs: figure,
      tpotMs: figure,
      itlsMs: z.array(z.number()),
    })
    .nullable(),
  stages: z.record(z.string(), plain),
});

/** `duplex` of a stored record. */
export const duplexSessionSchema = z.strictObject({
  sessionId: z.string(),
  serverSessionId: z.string().nullable(),
  caseFacts: plain,
  latencyS: z.number(),
  streamStartMs: figure,
  inputAudioChunks: count,
  inputVideoFrames: count,
  pacingMeanLagMs: figure,
  pacingMaxLagMs: figure,
  responseCount: count,
  audioBytes: count,
  audioClippedBytes: count,
  transcript: z.string(),
  transcriptChunks: z.array(
    z.strictObject({
      responseId: z.string(),
      text: z.string(),
      timestampS: z.tuple([z.number(), z.number()]),
    }),
  ),
  ineligibleReasons: z.array(z.string()),
  warnings: z.array(z.string()),
  outputTokens: count.nullable(),
  requestRows: z.array(row),
  metrics: z.strictObject({
    audioTurnCount: count,
    ttftMs: statistic,
    ttfpMs: statistic,
    rtf: statistic,
    tpotMs: statistic,
    clientTtftMs: statistic,
    clientTtfpMs: statistic,
    stream: z
      .strictObject({
        ttftMs: figure,
        ttfpMs: figure,
        rtf: figure,
        audioGenerationMs: z.number(),
        audioDurationMs: z.number(),
        origins,
      })
      .nullable(),
  }),
});
