import type { DuplexSessionFacts } from './duplex-session.ts';
import { eventLogOf } from './event-log.ts';
import type { RequestRecord } from './request-record.ts';
import type { RunFacts } from './run-facts.ts';

/** A plain successful record for tests; every field can be replaced. */
export function exampleRecord(changes: Partial<RequestRecord>): RequestRecord {
  return {
    index: 0,
    role: 'measured',
    requestId: 'bench-0',
    endpoint: 'openai-chat-omni',
    model: 'm',
    intendedMs: 1000,
    admittedMs: 1000.25,
    attempts: [
      {
        sendMs: 1000.5,
        endMs: 1500,
        error: null,
        exchanges: [
          {
            method: 'POST',
            url: 'http://127.0.0.1:8000/v1/chat/completions',
            sendMs: 1000.5,
            connectedMs: 1000.5,
            connectionReused: true,
            headersMs: 1010,
            endMs: 1500,
            status: 200,
            requestBytes: 100,
            responseBytes: 2000,
          },
        ],
      },
    ],
    events: eventLogOf([
      { timeMs: 1100, tokens: 1, bytes: 4 },
      { timeMs: 1200, tokens: 1, bytes: 5 },
    ]),
    responses: [],
    text: 'hi there',
    plannedPromptTokens: 3,
    promptTokens: 3,
    expectedOutputTokens: 2,
    outputTokens: 2,
    outputTokensSource: 'usage',
    audio: null,
    image: null,
    video: null,
    inputAudioDurationS: null,
    duplex: null,
    outcome: { ok: true },
    ...changes,
  };
}

/** A session with one spoken response; every field can be replaced. */
export function exampleSession(changes: Partial<DuplexSessionFacts>): DuplexSessionFacts {
  const statistic = (value: number) => ({ count: 1, mean: value, p50: value, p99: value });
  return {
    sessionId: 'omniinteract:1q1a:bench-0:1000000',
    serverSessionId: 'duplex-1',
    caseFacts: { subset: '1q1a', video_rel: 'videos/0001.mp4' },
    latencyS: 8.5,
    streamStartMs: 1100,
    inputAudioChunks: 10,
    inputVideoFrames: 2,
    pacingMeanLagMs: 0.25,
    pacingMaxLagMs: 1.5,
    responseCount: 1,
    audioBytes: 48_000,
    audioClippedBytes: 0,
    transcript: 'hello',
    transcriptChunks: [{ responseId: 'r1', text: 'hello', timestampS: [1.25, 2.25] }],
    ineligibleReasons: [],
    warnings: [],
    outputTokens: 3,
    requestRows: [
      {
        requestIndex: 0,
        responseId: 'r1',
        timings: {
          source: 'client_monotonic_receive',
          origins: { ttft: 'a', ttfp: 'b', rtf: 'c', tpot: 'd' },
          ttftMs: 120,
          ttfpMs: 150,
          audioGenerationMs: 600,
          audioDurationMs: 1000,
          rtf: 0.6,
          clientTtftMs: 120,
          clientTtfpMs: 150,
        },
        stageZero: { outputTokenCount: 3, ttftMs: 110, tpotMs: 15, itlsMs: [14, 16] },
        stages: { '0': { num_tokens_out: 3, vllm_tpot_ms: 15 } },
      },
    ],
    metrics: {
      audioTurnCount: 1,
      ttftMs: statistic(120),
      ttfpMs: statistic(150),
      rtf: statistic(0.6),
      tpotMs: statistic(15),
      clientTtftMs: statistic(120),
      clientTtfpMs: statistic(150),
      stream: {
        ttftMs: 1270,
        ttfpMs: 1300,
        rtf: 1.75,
        audioGenerationMs: 1750,
        audioDurationMs: 1000,
        origins: { ttft: 'a', ttfp: 'b', rtf: 'c' },
      },
    },
    ...changes,
  };
}

/** The description of a plain run for tests. */
export function exampleFacts(changes: Partial<RunFacts>): RunFacts {
  return {
    format: 1,
    omnimeterVersion: '0.0.0',
    argv: ['bench', 'serve'],
    startedAt: '2026-01-02T03:04:05.000+00:00',
    hostClockOffsetMs: 0,
    startMs: 1000,
    endMs: 2000,
    interrupted: false,
    measuredCount: null,
    omni: true,
    endpoint: { name: 'openai-chat-omni', itl: 'token_split', latencyEnd: 'last_message', output: 'text' },
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    modelId: 'm',
    servedModelName: null,
    tokenizerId: 't',
    hasTokenizer: true,
    dataset: 'random',
    numPrompts: 1,
    requestRate: null,
    burstiness: 1,
    maxConcurrency: null,
    rampUp: null,
    rpsChangeEvents: [],
    seed: 0,
    label: null,
    metadata: {},
    percentileMetrics: ['ttft', 'tpot', 'itl'],
    metricPercentiles: [99],
    goodput: {},
    printStage: false,
    continuityThresholdS: 0.1,
    temperature: null,
    self: null,
    datasetResults: {},
    datasetLines: [],
    environment: null,
    ...changes,
  };
}
