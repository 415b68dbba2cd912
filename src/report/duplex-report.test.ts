import { describe, expect, it } from 'vitest';
import { attemptOf, omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import type { DuplexRequestRow, DuplexSessionFacts } from '../records/duplex-session.ts';
import { exampleSession } from '../records/examples.suite.ts';
import { decodeRecord, encodeRecord } from '../records/record-json.ts';
import type { RequestRecord } from '../records/request-record.ts';
import { renderReplyNotes } from './reply-notes.ts';
import { renderResultJson } from './result-json.ts';
import { renderTerminalReport } from './terminal-report.ts';

const [template] = exampleSession({}).requestRows;
if (!template?.timings) throw new Error('the example has a timed response');
const base: DuplexRequestRow = template;
const { timings } = template;

function rowOf(
  stageZero: { tokens: number; tpotMs?: number; itlsMs?: readonly number[] } | null,
  times: Partial<NonNullable<DuplexRequestRow['timings']>> = {},
): DuplexRequestRow {
  return {
    ...base,
    timings: { ...timings, ...times },
    stageZero: stageZero && {
      outputTokenCount: stageZero.tokens,
      ttftMs: null,
      tpotMs: stageZero.tpotMs ?? null,
      itlsMs: stageZero.itlsMs ?? [],
    },
  };
}

function sessionRecord(
  rows: readonly DuplexRequestRow[],
  changes: Partial<RequestRecord> = {},
  session: Partial<DuplexSessionFacts> = {},
): RequestRecord {
  const outputTokens = rows.reduce((sum, { stageZero }) => sum + (stageZero?.outputTokenCount ?? 0), 0);
  return requestOf(
    {},
    {
      attempts: [attemptOf(0, 8500)],
      text: 'hello',
      outputTokens,
      outputTokensSource: 'stage',
      expectedOutputTokens: null,
      duplex: exampleSession({ requestRows: rows, ...session }),
      ...changes,
    },
  );
}

const summaryOf = (...records: RequestRecord[]) => summarize(records, omniFacts({ endMs: 10_000 }));

describe('token timing of a session', () => {
  it('is the engine’s, each response weighing its gaps', () => {
    // (15 ms · 2 gaps + 40 ms · 1 gap) / 3 gaps, for each of the 4 tokens after the first.
    const summary = summaryOf(
      sessionRecord([rowOf({ tokens: 3, tpotMs: 15 }), rowOf({ tokens: 2, tpotMs: 40 })]),
    );
    expect(summary.distributions.tpot.mean).toBeCloseTo(70 / 3, 9);
    expect(summary.distributions.itl.count).toBe(0);
  });

  it('has the gaps where all of them are there, and none between responses', () => {
    const { distributions } = summaryOf(
      sessionRecord([
        rowOf({ tokens: 3, tpotMs: 9, itlsMs: [10, 20] }),
        rowOf({ tokens: 1 }),
        rowOf({ tokens: 2, itlsMs: [60] }),
      ]),
    );
    expect(distributions.itl).toMatchObject({ count: 3, mean: 30, max: 60 });
    // 90 ms over 6 − 1 tokens.
    expect(distributions.tpot.mean).toBeCloseTo(18, 9);
  });

  it.each<[string, readonly DuplexRequestRow[], Partial<RequestRecord>]>([
    ['a response was not timed', [rowOf({ tokens: 3, tpotMs: 15 }), rowOf(null)], { outputTokens: 3 }],
    ['a count is not the session’s', [rowOf({ tokens: 3, tpotMs: 15 })], { outputTokens: 4 }],
    ['a list is short and has no mean', [rowOf({ tokens: 3, itlsMs: [10] })], {}],
  ])('is not measured where %s', (_, rows, changes) => {
    const summary = summaryOf(sessionRecord(rows, changes));
    expect(summary.distributions.tpot.count).toBe(0);
    expect(renderReplyNotes(summary).join()).toContain(
      '1 sessions omitted complete engine token timing; standard TPOT/ITL are unavailable',
    );
  });

  it('is not missed in a session of one token', () => {
    expect(renderReplyNotes(summaryOf(sessionRecord([rowOf({ tokens: 1 })])))).toEqual([]);
  });
});

describe('remarks of sessions', () => {
  it('are told after the report, the first in its words', () => {
    const odd = sessionRecord([rowOf({ tokens: 1 })], {}, { warnings: ['it \u001b[31mswore', 'twice'] });
    const fine = sessionRecord([rowOf({ tokens: 1 })], { index: 1 });
    const lines = renderReplyNotes(summaryOf(odd, fine, { ...odd, index: 2 }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^2 sessions have remarks \(it .*swore\): see artifact_warnings of each case/);
    expect(lines[0]).not.toContain('\u001b');
  });
});

describe('a session among requests', () => {
  const good = sessionRecord([rowOf({ tokens: 3, tpotMs: 15 })]);

  it('has the means of its responses, its latency, and no token peak', () => {
    const { distributions, run } = summaryOf(good);
    expect(distributions.ttft.mean).toBe(120);
    expect(distributions.audio_ttfp.mean).toBe(150);
    expect(distributions.audio_rtf.mean).toBe(0.6);
    expect(distributions.e2el.mean).toBe(8500);
    expect(distributions.duplex_stream_ttft.mean).toBe(1270);
    expect(run.max_output_tokens_per_s).toBeNull();
    expect(run.peak_output_tokens_per_s_exact).toBeNull();
    expect(run.input_pacing_mean_lag).toBe(0.25);
  });

  it('that only listened has no samples', () => {
    const { metrics } = exampleSession({});
    const silent = { ...metrics, audioTurnCount: 0, ttftMs: null, ttfpMs: null, rtf: null, stream: null };
    const listening = sessionRecord([], { index: 1, text: '', outputTokens: null }, { metrics: silent });
    const { distributions, run } = summaryOf(good, listening);
    expect(run.completed).toBe(2);
    for (const key of ['ttft', 'tpot', 'audio_ttfp', 'audio_rtf', 'duplex_stream_rtf'] as const)
      expect(distributions[key].count).toBe(1);
    const json = renderResultJson(summaryOf(good, listening), { detailed: true, dateLabel: 'd' });
    expect(json.ttfts).toEqual([0.12, null]);
  });

  it('misses an objective that it did not observe', () => {
    const { metrics } = exampleSession({});
    const silent = sessionRecord([], { index: 1 }, { metrics: { ...metrics, ttftMs: null } });
    const facts = omniFacts({ endMs: 1000, goodput: { ttft: 1000 } });
    expect(summarize([good, silent], facts).run.request_goodput).toBe(1);
  });

  it('weighs chunks in the mean lag, and has the worst of all', () => {
    const other = sessionRecord(
      [],
      { index: 1 },
      { inputAudioChunks: 30, pacingMeanLagMs: 1.25, pacingMaxLagMs: 4 },
    );
    const { run } = summaryOf(good, other);
    expect(run.input_pacing_mean_lag).toBe(1);
    const unsent = { inputAudioChunks: 0, pacingMeanLagMs: null, pacingMaxLagMs: null };
    const silent = summaryOf(sessionRecord([], {}, unsent)).run;
    expect([silent.input_pacing_mean_lag, silent.input_pacing_max_lag]).toEqual([null, null]);
    const stored = encodeRecord(sessionRecord([], {}, unsent));
    expect(decodeRecord(stored, 'x').duplex).toMatchObject(unsent);
    expect(run.input_pacing_max_lag).toBe(4);
  });
});

describe('the report of sessions', () => {
  const byServer = { source: 'server_request_start_and_client_receive', ttftMs: 80, ttfpMs: 90 } as const;
  const block = (...records: RequestRecord[]): string[] => {
    const lines = renderTerminalReport(summaryOf(...records)).map((line) => line.trimEnd());
    return lines.slice(lines.findIndex((line) => line.includes('Duplex')));
  };

  it('prints responses by who timed them', () => {
    // 50 columns; labels of 40.
    expect(block(sessionRecord([rowOf({ tokens: 1 }, byServer)]))).toEqual([
      '========== Duplex Per-Response Latency ===========',
      'Mean server TTFT (ms):                   80.00',
      'Median server TTFT (ms):                 80.00',
      'P99 server TTFT (ms):                    80.00',
      'Mean server TTFP (ms):                   90.00',
      'Median server TTFP (ms):                 90.00',
      'P99 server TTFP (ms):                    90.00',
      'Mean client TTFT (ms):                   120.00',
      'Median client TTFT (ms):                 120.00',
      'P99 client TTFT (ms):                    120.00',
      'Mean client TTFP (ms):                   150.00',
      'Median client TTFP (ms):                 150.00',
      'P99 client TTFP (ms):                    150.00',
      'Responses timed by the server:           1',
      'Responses timed by the client alone:     0',
      'Mean input pacing lag (ms):              0.25',
      'Max input pacing lag (ms):               1.50',
      '==================================================',
    ]);
  });

  it('has no server’s figures where there are none, and says where they are mixed', () => {
    expect(block(sessionRecord([rowOf({ tokens: 1 })])).join('\n')).not.toContain('Mean server');
    const mixed = sessionRecord([rowOf({ tokens: 1 }, byServer), rowOf({ tokens: 1 })]);
    expect(block(mixed)[1]).toBe('Mean server/client TTFT (ms):            100.00');
    expect(renderReplyNotes(summaryOf(mixed)).join()).toContain(
      '1 of 2 responses were timed by the client alone',
    );
  });

  it('still has the pacing where nothing was said', () => {
    expect(block(sessionRecord([]))).toHaveLength(4);
  });

  it('has no such block for other requests', () => {
    expect(renderTerminalReport(summaryOf(requestOf({ endMs: 1 }))).join()).not.toContain('Duplex');
  });
});

describe('the result of sessions', () => {
  it('has the original’s keys', () => {
    const other = sessionRecord([rowOf({ tokens: 1 }, { ttftMs: 240 })], { index: 1 });
    const facts = omniFacts({
      endMs: 10_000,
      metricPercentiles: [50],
      datasetResults: { omniinteract: { total: 2 } },
    });
    const result = renderResultJson(summarize([sessionRecord([rowOf({ tokens: 1 })]), other], facts), {
      detailed: false,
      dateLabel: 'd',
    });
    expect(result).toMatchObject({
      num_ttft_samples: 2,
      num_tpot_samples: 0,
      duplex_stream_ttft_ms: { count: 2, mean: 1270, p50: 1270, p99: 1270 },
      duplex_stream_rtf: { count: 2, mean: 1.75, p50: 1.75, p99: 1.75 },
      num_duplex_response_ttft_ms_samples: 2,
      mean_duplex_response_ttft_ms: 180,
      median_duplex_response_ttft_ms: 180,
      // 120 + 0.99 · (240 − 120)
      p99_duplex_response_ttft_ms: 238.8,
      num_duplex_client_ttfp_ms_samples: 2,
      omniinteract: { total: 2 },
      input_pacing_max_lag_ms: 1.5,
    });
    expect(result.duplex_request_metrics).toHaveLength(2);
    expect(result.duplex_session_metrics).toHaveLength(2);
  });

  it('has them without --omni too', () => {
    const facts = omniFacts({ endMs: 10_000, omni: false, datasetResults: { omniinteract: { total: 1 } } });
    const summary = summarize([sessionRecord([rowOf({ tokens: 1 })])], facts);
    const result = renderResultJson(summary, { detailed: false, dateLabel: 'd' });
    expect(result).toMatchObject({ mean_duplex_client_ttft_ms: 120, omniinteract: { total: 1 } });
    expect(renderTerminalReport(summary).join('\n')).not.toContain('n/a');
  });

  it('has none of them for other requests', () => {
    const result = renderResultJson(summaryOf(requestOf({ endMs: 1 })), { detailed: true, dateLabel: 'd' });
    expect(Object.keys(result).filter((key) => /duplex|pacing|kept|omniinteract/.test(key))).toEqual([]);
  });
});

describe('kept requests', () => {
  const kept = sessionRecord([rowOf({ tokens: 1 })], { kept: true });
  const fresh = sessionRecord([rowOf({ tokens: 1 })], { index: 1 });

  it('count, and are marked', () => {
    const summary = summaryOf(kept, fresh);
    expect(renderTerminalReport(summary).map((line) => line.trimEnd())).toContain(
      'Kept from an earlier run:                1',
    );
    expect(renderReplyNotes(summary)[0]).toContain('1 of the requests were measured by an earlier run');
    const result = renderResultJson(summary, { detailed: true, dateLabel: 'd' });
    expect(result).toMatchObject({ completed: 2, kept_requests: 1, kept: [true, false] });
  });

  it('are the same after the journal', () => {
    expect(decodeRecord(encodeRecord(kept), 'x')).toEqual(kept);
  });
});
