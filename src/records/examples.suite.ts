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
    outcome: { ok: true },
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
    environment: null,
    ...changes,
  };
}
