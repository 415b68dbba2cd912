import {
  attemptOf,
  audioChunks,
  omniFacts,
  requestOf,
  textChunks,
  wavFacts,
} from '../../metrics/metric-records.suite.ts';
import type { RequestRecord, ResponseFacts } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';

// Runs as the page meets them. Times follow simple laws, so that a reader knows what must be seen.

export type ExampleRun = { readonly records: readonly RequestRecord[]; readonly facts: RunFacts };

const response: ResponseFacts = {
  id: 'chat-1',
  finishReason: 'stop',
  usage: null,
  stages: {},
  stageDurations: {},
  peakMemoryMb: null,
};

const runOf = (records: readonly RequestRecord[], changes: Partial<RunFacts> = {}): ExampleRun => ({
  records,
  facts: omniFacts({
    startMs: 0,
    endMs: Math.max(...records.map(({ attempts }) => attempts.at(-1)?.endMs ?? 0), 1),
    numPrompts: records.length,
    modelId: 'org/omni-model',
    self: {
      loadThreads: 1,
      transport: 'socket',
      arrivalClock: 'worker',
      sendLagP50Ms: 0.1,
      sendLagP99Ms: 0.5,
      sendLagMaxMs: 1,
      loopDelayP99Ms: 1.5,
      loopDelayMaxMs: 3,
      loopUtilizationRatio: 0.2,
      cpuS: 0.75,
      gcPauseMs: 4,
      connectionsOpened: 4,
      connectionsReused: 20,
      maxInFlight: 4,
    },
    ...changes,
  }),
});

/** Text alone: request i is sent at 100·i and its first token comes after 20 + i ms. */
export function textRun(count = 30): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) => {
      const startMs = 100 * index;
      const tokens = Array.from({ length: 12 }, (__, k) => startMs + 20 + index + 10 * k);
      return requestOf(
        { startMs, events: textChunks(tokens) },
        {
          index,
          requestId: `bench-${index}`,
          intendedMs: startMs - 1,
          promptTokens: 50,
          outputTokens: 12,
          outputTokensSource: 'usage',
          text: `reply number ${index}`,
          responses: [response],
        },
      );
    }),
  );
}

/** Text and speech from three stages; every third reply runs dry once. */
export function spokenRun(count = 24): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) => {
      const startMs = 200 * index;
      const at = (ms: number): number => startMs + ms;
      const lateMs = index % 3 === 0 ? 400 : 0;
      return requestOf(
        {
          startMs,
          events: [
            ...textChunks([30, 45, 60, 75].map((ms) => at(ms + index))),
            ...audioChunks([
              [at(160 + index), 4800],
              [at(300 + index), 4800],
              [at(450 + index + lateMs), 7200],
            ]),
          ],
        },
        {
          index,
          intendedMs: startMs,
          outputTokens: 4,
          outputTokensSource: 'usage',
          audio: wavFacts(16_800),
          responses: [
            {
              ...response,
              stages: {
                0: {
                  stage_name: 'thinker',
                  final_output_type: 'text',
                  output_unit_type: 'text',
                  num_tokens_out: 4,
                  stage_gen_time_ms: 80,
                  serving_time_to_first_output_ms: 28 + index,
                  vllm_ttft_ms: 25,
                  vllm_tpot_ms: 15,
                },
                1: {
                  stage_name: 'talker',
                  output_unit_type: 'stream',
                  output_unit_count: 20,
                  stage_gen_time_ms: 300,
                  serving_time_to_first_output_ms: 60 + index,
                  time_per_output_unit_ms: 12,
                },
                2: {
                  stage_name: 'code2wav',
                  final_output_type: 'audio',
                  output_unit_type: 'audio',
                  output_unit_count: 16_800,
                  audio_duration_s: 0.7,
                  stage_gen_time_ms: 380,
                  serving_time_to_first_output_ms: 150 + index,
                },
              },
            },
          ],
        },
      );
    }),
    { printStage: true, percentileMetrics: ['ttft', 'tpot', 'itl', 'e2el', 'audio_ttfp', 'audio_rtf'] },
  );
}

/** Images that come whole. */
export function imageRun(count = 12): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) =>
      requestOf(
        { startMs: 500 * index, endMs: 500 * index + 900 + 10 * index, events: [] },
        {
          index,
          text: '',
          image: {
            count: 1,
            pixels: 512 * 512,
            sizedCount: 1,
            broken: 0,
            generationMs: 800 + 10 * index,
            denoiseStepMs: 16,
          },
          responses: [{ ...response, stageDurations: { stage_1_gen_ms: 790 }, peakMemoryMb: 21_000 + index }],
        },
      ),
    ),
    { endpoint: { name: 'openai-images', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'pictures' } },
  );
}

/** Videos as polled jobs. */
export function videoRun(count = 6): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) => {
      const startMs = 300 * index;
      const attempt = attemptOf(startMs, startMs + 4000 + 100 * index);
      const [exchange] = attempt.exchanges;
      if (!exchange) throw new Error('an attempt has an exchange');
      const polls = Array.from({ length: 20 }, (__, k) => ({
        ...exchange,
        method: 'GET',
        sendMs: startMs + 200 * (k + 1),
        endMs: startMs + 200 * (k + 1) + 5,
      }));
      return requestOf(
        { startMs, events: [] },
        {
          index,
          text: '',
          attempts: [
            {
              ...attempt,
              exchanges: [{ ...exchange, headersMs: startMs + 20, endMs: startMs + 20 }, ...polls],
            },
          ],
          video: { durationS: 2, frames: 48, generationMs: 3800 + 100 * index },
          responses: [response],
        },
      );
    }),
    { endpoint: { name: 'openai-videos', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'pictures' } },
  );
}

/** Nothing but failures, of two kinds. */
export function failedRun(count = 8): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) =>
      requestOf(
        { startMs: 10 * index, endMs: 10 * index + 5 },
        {
          index,
          text: '',
          outcome: {
            ok: false,
            kind: index % 4 === 3 ? 'reset' : 'http',
            status: index % 4 === 3 ? null : 503,
            message: index % 4 === 3 ? 'the connection was reset' : 'HTTP 503 Service Unavailable',
            body: index % 4 === 3 ? null : '{"error":"busy"}',
          },
        },
      ),
    ),
  );
}

/** Very many short replies, some of them failed. */
export function hugeRun(count = 100_000): ExampleRun {
  return runOf(
    Array.from({ length: count }, (_, index) => {
      const startMs = 2 * index;
      const isFailed = index % 250 === 7;
      // A spread without a pattern that a picture could show.
      const slowMs = 20 + ((index * 7919) % 1013) / 10;
      return requestOf(
        {
          startMs,
          endMs: startMs + slowMs + 40,
          events: isFailed ? [] : textChunks([0, 10, 20, 30].map((ms) => startMs + slowMs + ms)),
        },
        {
          index,
          requestId: `bench-${index}`,
          outputTokens: isFailed ? null : 4,
          outputTokensSource: isFailed ? null : 'usage',
          outcome: isFailed
            ? { ok: false, kind: 'timeout', status: null, message: `gave up on ${index}`, body: null }
            : { ok: true },
        },
      );
    }),
    { requestRate: 500 },
  );
}

const controls = String.fromCharCode(0, 7, 8, 27, 127, 0x9b);
const marks = '\u202e\u2066\u200f\ufeff';
/** What must come out as text and nothing else, wherever a server or a file can put a string. */
export const hostileText = `<script>window.pwned=1</script>"'><img src=x onerror="window.pwned=1">${controls}${marks}مرحبا עולם </script><!-- {{data}} $& [31mred`;

/** Every string is hostile, and some are long. */
export function hostileRun(): ExampleRun {
  const long = hostileText.repeat(Math.ceil(1e6 / hostileText.length));
  const base = spokenRun(4);
  const records = base.records.map((record, index): RequestRecord => {
    const [first] = record.responses;
    const stages = Object.fromEntries(
      Object.entries(first?.stages ?? {}).map(([id, snapshot]) => [
        id === '1' ? hostileText : id,
        { ...snapshot, stage_name: index === 0 ? long : hostileText },
      ]),
    );
    return {
      ...record,
      requestId: hostileText,
      endpoint: hostileText,
      model: hostileText,
      text: long,
      audio: record.audio && { ...record.audio, format: hostileText, note: hostileText, droppedChunks: 1 },
      responses: [
        {
          ...response,
          id: hostileText,
          finishReason: hostileText,
          stages,
          stageDurations: { [hostileText]: 3 },
        },
      ],
      outcome:
        index < 2
          ? { ok: true }
          : { ok: false, kind: 'http', status: 500, message: index === 2 ? long : hostileText, body: long },
      attempts: [{ ...attemptOf(1, 2), error: hostileText }, ...record.attempts],
    };
  });
  return {
    records,
    facts: {
      ...base.facts,
      argv: [
        '--model',
        hostileText,
        '--header',
        `Authorization=Bearer secret`,
        '--base-url',
        'http://u:pw@h/',
      ],
      modelId: hostileText,
      servedModelName: hostileText,
      url: hostileText,
      dataset: hostileText,
      label: hostileText,
      tokenizerId: hostileText,
      startedAt: hostileText,
      metadata: { [hostileText]: hostileText, '=1+1': '=cmd' },
      endpoint: { ...base.facts.endpoint, name: hostileText },
    },
  };
}
