import { describe, expect, it } from 'vitest';
import { requestMetrics, runMetrics, samplesMetrics, stageMetrics } from '../metrics/catalogue.ts';
import { goodputKeys } from '../metrics/goodput.ts';
import { percentileMetricNames, percentileMetrics } from '../metrics/percentile-metrics.ts';
import { renderMetricsDoc } from './metrics-doc.ts';

const catalogue = [requestMetrics, samplesMetrics, runMetrics, stageMetrics];

describe('the catalogue', () => {
  it('lists every metric under its own key, with a definition and a source', () => {
    for (const metrics of catalogue) {
      for (const [key, metric] of Object.entries(metrics)) {
        expect(metric.key).toBe(key);
        expect(metric.doc).toMatch(/\.$/);
        expect(metric.source).not.toBe('');
      }
    }
  });

  it('gives the names of the command line', () => {
    const names =
      'ttft tpot tpop itl e2el ttfc tpoc icl audio_ttfp audio_rtf audio_duration audio_underrun client_queue_time e2el_including_client_queue';
    expect(percentileMetricNames.toSorted()).toEqual(names.split(' ').toSorted());
    expect(percentileMetrics.every(({ doc }) => doc !== '')).toBe(true);
    expect(goodputKeys.map(({ name }) => name).toSorted()).toEqual([
      ...['audio_rtf', 'audio_ttfp', 'audio_ttft', 'audio_underrun', 'client_queue_time'],
      ...[
        'denoise_step_latency',
        'duplex_stream_rtf',
        'duplex_stream_ttfp',
        'duplex_stream_ttft',
        'e2el',
        'e2el_including_client_queue',
        'image_generation',
      ],
      ...['peak_memory_mb', 'time_to_first_content', 'tpot', 'ttft', 'video_generation', 'video_rtf'],
    ]);
  });
});

describe('the metrics page', () => {
  it('has every metric and every name', () => {
    const page = renderMetricsDoc();
    for (const key of catalogue.flatMap((metrics) => Object.keys(metrics)))
      expect(page).toContain(`\`${key}\`:`);
    for (const name of percentileMetricNames) expect(page).toContain(`| \`${name}\` |`);
    expect(page.endsWith('|\n')).toBe(true);
  });
});
