import {
  attemptOf,
  audioChunks,
  chunkGapFacts,
  omniFacts,
  requestOf,
  textChunks,
  wavFacts,
} from '../metrics/metric-records.suite.ts';
import { eventKinds } from '../records/event-log.ts';
import type { RequestRecord, ResponseFacts } from '../records/request-record.ts';
import type { RunFacts, SelfMeasurement } from '../records/run-facts.ts';
import type { GoldenRun } from './golden-runs.suite.ts';

// Runs that between them have everything a report can print. Figures are round, so that a reader can check the
// goldens by hand.

const self: SelfMeasurement = {
  loadThreads: 1,
  transport: 'socket',
  arrivalClock: 'worker',
  sendLagP50Ms: 0.125,
  sendLagP99Ms: 0.5,
  sendLagMaxMs: 1.25,
  loopDelayP99Ms: 2,
  loopDelayMaxMs: 4,
  loopUtilizationRatio: 0.25,
  cpuS: 1.5,
  gcPauseMs: null,
  connectionsOpened: 2,
  connectionsReused: 3,
  maxInFlight: 2,
};

const allMetrics = [
  ...['ttft', 'tpot', 'tpop', 'itl', 'e2el', 'ttfc', 'tpoc', 'icl', 'audio_rtf', 'audio_ttfp'],
  ...['audio_underrun', 'audio_duration', 'client_queue_time', 'e2el_including_client_queue'],
];

function stagesOf(index: number): ResponseFacts['stages'] {
  return {
    0: {
      stage_name: 'thinker',
      final_output_type: 'text',
      output_unit_type: 'text',
      num_tokens_out: 4,
      finish_reason: 'length',
      stage_gen_time_ms: 100 + 10 * index,
      postprocess_time_ms: index,
      serving_time_to_first_output_ms: 40 + index,
      vllm_ttft_ms: 30 + index,
      vllm_tpot_ms: 20,
      vllm_itls_ms: [10, 20, 30],
    },
    1: {
      stage_name: 'talker',
      output_unit_type: 'stream',
      output_unit_count: 5,
      stage_gen_time_ms: 200,
      serving_time_to_first_output_ms: 60,
      time_per_output_unit_ms: 12,
      inter_output_latency_ms: 12,
    },
    2: {
      stage_name: 'code2wav',
      final_output_type: 'audio',
      output_unit_type: 'audio',
      output_unit_count: 48_000,
      audio_duration_s: 2,
      stage_gen_time_ms: 500,
      serving_time_to_first_output_ms: 90,
      inter_output_latencies_ms: [],
    },
    3: { stage_name: 'vocoder', final_output_type: 'audio', stage_gen_time_ms: 40 },
    4: {
      stage_name: 'dit',
      final_output_type: 'image',
      output_unit_type: 'image',
      output_unit_count: 2,
      stage_gen_time_ms: 300,
    },
    // Numeric order, not that of text; a name from the server can't reach the terminal's controls.
    10: { stage_name: 'vae\u001b[31m\r\n', final_output_type: 'videos', stage_gen_time_ms: 400 },
    11: { output_unit_type: 'latent', stage_gen_time_ms: 50 },
  };
}

/** Reply `index` of the run of everything: sent 100 ms after it was due, text from 150 ms, audio from 400 ms. */
function everything(index: number): RequestRecord {
  const startMs = 100 + index * 250;
  const at = (sinceStartMs: number): number => startMs + sinceStartMs;
  return requestOf(
    {
      startMs,
      events: [
        { timeMs: at(20), kind: eventKinds.empty, tokens: null },
        { timeMs: at(150), kind: eventKinds.reasoning, tokens: 1, bytes: 4 },
        ...textChunks([at(200)], 2),
        ...textChunks([at(250)], 1),
        ...audioChunks([
          [at(400), 24_000],
          [at(1500), 24_000],
        ]),
        { timeMs: at(1500), kind: eventKinds.usage },
      ],
    },
    {
      index,
      intendedMs: startMs - 100,
      plannedPromptTokens: 9,
      promptTokens: 10 + index,
      outputTokens: 4,
      outputTokensSource: 'usage',
      expectedOutputTokens: 4,
      audio: wavFacts(48_000),
      image: {
        count: 2,
        pixels: 512 * 512,
        sizedCount: 1,
        broken: 0,
        generationMs: 300 + index,
        denoiseStepMs: 6,
      },
      video: { durationS: 2, frames: 48, generationMs: index === 0 ? null : 400 },
      responses: [
        {
          id: `chat-${index}`,
          finishReason: 'stop',
          usage: null,
          stages: stagesOf(index),
          stageDurations: {
            stage_4_gen_ms: 300,
            queue_wait_ms: 5 + index,
            'WanPipeline.text_encoder.forward': 0.25,
          },
          peakMemoryMb: 1000 + index,
        },
      ],
    },
  );
}

function failing(index: number, startMs: number, kind: 'http' | 'aborted'): RequestRecord {
  return requestOf(
    { startMs, endMs: startMs + 50 },
    {
      index,
      outcome: {
        ok: false,
        kind,
        status: kind === 'http' ? 503 : null,
        message: kind === 'http' ? 'HTTP 503 Service Unavailable' : 'stopped by the user',
        body: kind === 'http' ? '{"error":"busy\u0007"}' : null,
      },
    },
  );
}

/** Every section of the omni report. */
export function everySection(): GoldenRun {
  const facts: RunFacts = omniFacts({
    endMs: 2500,
    percentileMetrics: allMetrics,
    metricPercentiles: [50, 99, 99.9],
    goodput: { ttft: 150, tpot: 34, audio_ttft: 400, video_rtf: 0.5 },
    maxConcurrency: 8,
    requestRate: 4,
    burstiness: 0.5,
    label: 'every section',
    metadata: { host: 'box-1', num_prompts: 'can be overridden', duration: 'cannot' },
    modelId: 'org/omni-model',
    numPrompts: 5,
    printStage: true,
    temperature: 0,
    self,
  });
  return {
    records: [
      everything(0),
      everything(1),
      everything(2),
      failing(3, 850, 'http'),
      failing(4, 900, 'aborted'),
    ],
    facts,
  };
}

/** The base tool's report: completions, a ramp, probes, audio sent. */
export function baseRun(): GoldenRun {
  const reply = (index: number, startMs: number): RequestRecord =>
    requestOf(
      {
        startMs,
        events: [
          ...textChunks([startMs + 100, startMs + 140, startMs + 180], null),
          { timeMs: startMs + 900, kind: eventKinds.usage },
        ],
      },
      {
        index,
        intendedMs: startMs - 50,
        outputTokens: 5,
        outputTokensSource: 'usage',
        inputAudioDurationS: 2,
      },
    );
  const probe = requestOf({ startMs: 100, events: textChunks([150, 160]) }, { role: 'probe' });
  const facts = chunkGapFacts({
    omni: false,
    endMs: 2000,
    endpoint: { name: 'vllm', itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },
    percentileMetrics: ['e2el', 'itl', 'tpot', 'ttft', 'client_queue_time', 'e2el_including_client_queue'],
    maxConcurrency: 2,
    rampUp: { strategy: 'linear', startRps: 1, endRps: 3 },
    rpsChangeEvents: [{ rps: 1, timestamp: '2026-01-02T03:04:05.000+00:00' }],
    goodput: { e2el: 1000 },
    modelId: 'a/b-c',
  });
  const retried: RequestRecord = {
    ...reply(1, 700),
    attempts: [{ ...attemptOf(650, 690), error: 'connection reset' }, attemptOf(700, 1600)],
  };
  return { records: [reply(0, 100), retried, probe], facts };
}

/** Speech alone: a prompt, and nothing else of text. */
export function speechRun(): GoldenRun {
  const record = requestOf(
    {
      endMs: 1200,
      events: audioChunks([
        [300, 24_000],
        [1100, 12_000],
      ]),
    },
    { audio: wavFacts(36_000), promptTokens: 7 },
  );
  const facts = omniFacts({
    endMs: 1200,
    endpoint: { name: 'openai-audio-speech', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'speech' },
    percentileMetrics: ['ttft', 'e2el', 'audio_ttfp', 'audio_rtf'],
  });
  return { records: [record], facts };
}

/** Vectors: the base tool's report of them. */
export function poolingRun(changes: Partial<RunFacts> = {}): GoldenRun {
  const reply = (index: number, startMs: number, endMs: number): RequestRecord =>
    requestOf(
      { startMs, endMs, events: [{ timeMs: endMs, kind: eventKinds.whole }] },
      { index, promptTokens: 12, plannedPromptTokens: 10 },
    );
  const facts = omniFacts({
    omni: false,
    endMs: 1000,
    endpoint: {
      name: 'openai-embeddings',
      itl: 'chunk_gap',
      latencyEnd: 'body_end',
      output: 'pooling',
    },
    percentileMetrics: ['e2el'],
    hasTokenizer: false,
    goodput: { e2el: 250 },
    ...changes,
  });
  return { records: [reply(0, 0, 200), reply(1, 100, 400)], facts };
}

/** Pictures that nobody got: no section speaks of text. */
export function failedPicturesRun(): GoldenRun {
  return {
    records: [failing(0, 0, 'http')],
    facts: omniFacts({
      endMs: 500,
      endpoint: {
        name: '/v1/images/generations',
        itl: 'chunk_gap',
        latencyEnd: 'last_message',
        output: 'pictures',
      },
    }),
  };
}

/** Nothing but failures. */
export function allFailedRun(): GoldenRun {
  return {
    records: [failing(0, 0, 'http'), failing(1, 10, 'http')],
    facts: omniFacts({ endMs: 500, percentileMetrics: allMetrics, goodput: { ttft: 1 } }),
  };
}
