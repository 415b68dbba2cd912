import type { RunSummary } from '../metrics/summary.ts';
import type { ServingItem } from './layout.ts';
import { stageLayouts } from './stage-layout.ts';

const above0 = (value: number | null): boolean => value !== null && value > 0;

const hasPictures = ({ run, distributions }: RunSummary): boolean =>
  above0(run.total_images) ||
  above0(run.total_video_duration_s) ||
  above0(run.total_video_frames) ||
  distributions.video_generation.count > 0;

const isPooling = ({ facts }: RunSummary): boolean => facts.endpoint.output === 'pooling';

const hasOutputTokens = ({ run }: RunSummary): boolean => above0(run.total_output_tokens);

/** Replies of pictures alone have no text section, nor has a run that asked for pictures and got none. */
const hasTextSection = (summary: RunSummary): boolean =>
  hasOutputTokens(summary) || !(hasPictures(summary) || summary.facts.endpoint.output === 'pictures');

/** Replies of speech alone, or of vectors, have a prompt and nothing else to say of text. */
const hasTextOutput = (summary: RunSummary): boolean =>
  hasOutputTokens(summary) || summary.facts.endpoint.output === 'text';

/** `bench serve --omni`. */
export const omniLayout: readonly ServingItem[] = [
  { kind: 'title', text: ' Serving Benchmark Result ' },
  { kind: 'row', label: 'Successful requests:', metric: 'completed', format: 'integer' },
  { kind: 'row', label: 'Failed requests:', metric: 'failed', format: 'integer' },
  {
    kind: 'section',
    when: ({ run }) => above0(run.kept_requests),
    items: [{ kind: 'row', label: 'Kept from an earlier run:', metric: 'kept_requests', format: 'integer' }],
  },
  { kind: 'setting', label: 'Maximum request concurrency:', setting: 'maxConcurrency', format: 'integer' },
  { kind: 'setting', label: 'Request rate configured (RPS):', setting: 'requestRate', format: 'fixed' },
  { kind: 'row', label: 'Benchmark duration (s):', metric: 'duration', format: 'fixed' },
  { kind: 'row', label: 'Request throughput (req/s):', metric: 'request_throughput', format: 'fixed' },
  {
    kind: 'section',
    when: ({ facts }) => Object.keys(facts.goodput).length > 0,
    items: [{ kind: 'row', label: 'Request goodput (req/s):', metric: 'request_goodput', format: 'fixed' }],
  },
  { kind: 'row', label: 'Peak concurrent requests:', metric: 'max_concurrent_requests', format: 'fixed' },
  { kind: 'block', metric: 'peak_memory_mb', when: 'observed' },
  { kind: 'stage-durations' },
  {
    kind: 'section',
    when: isPooling,
    items: [{ kind: 'block', metric: 'e2el', when: 'observed' }],
  },
  {
    kind: 'section',
    when: (summary) => !isPooling(summary),
    items: [{ kind: 'block', metric: 'e2el', when: 'selected' }],
  },
  { kind: 'block', metric: 'client_queue_time', when: 'selected' },
  { kind: 'block', metric: 'e2el_including_client_queue', when: 'selected' },
  {
    kind: 'section',
    when: hasTextSection,
    items: [
      { kind: 'title', text: ' Text Result ' },
      { kind: 'row', label: 'Total input tokens:', metric: 'total_input_tokens', format: 'integer' },
      {
        kind: 'section',
        when: hasTextOutput,
        items: [
          { kind: 'row', label: 'Total generated tokens:', metric: 'total_output_tokens', format: 'integer' },
          {
            kind: 'row',
            label: 'Output token throughput (tok/s):',
            metric: 'output_throughput',
            format: 'fixed',
          },
          {
            kind: 'section',
            when: ({ run }) => run.max_output_tokens_per_s !== null,
            items: [
              {
                kind: 'row',
                label: 'Peak output token throughput (tok/s):',
                metric: 'max_output_tokens_per_s',
                format: 'fixed',
              },
            ],
          },
          // Printed a second time, as in the original.
          {
            kind: 'row',
            label: 'Peak concurrent requests:',
            metric: 'max_concurrent_requests',
            format: 'fixed',
          },
          {
            kind: 'row',
            label: 'Total Token throughput (tok/s):',
            metric: 'total_token_throughput',
            format: 'fixed',
          },
        ],
      },
      {
        kind: 'section',
        when: hasOutputTokens,
        items: [
          { kind: 'block', metric: 'ttft', when: 'selected' },
          { kind: 'block', metric: 'tpot', when: 'selected' },
          { kind: 'block', metric: 'itl', when: 'selected' },
        ],
      },
    ],
  },
  {
    kind: 'section',
    when: ({ hasAudio }) => hasAudio,
    items: [
      { kind: 'title', text: ' Audio Result ' },
      {
        kind: 'row',
        label: 'Total audio duration generated(s):',
        metric: 'total_audio_duration_s',
        format: 'fixed',
      },
      {
        kind: 'row',
        label: 'Total audio frames generated:',
        metric: 'total_audio_frames',
        format: 'integer',
      },
      {
        kind: 'row',
        label: 'Audio throughput(audio duration/s):',
        metric: 'audio_throughput',
        format: 'fixed',
      },
      {
        kind: 'row',
        label: 'Streaming continuity OK rate:',
        metric: 'audio_continuity_ok_rate',
        format: 'percent',
      },
      {
        kind: 'blocks-as-named',
        metrics: ['audio_ttfp', 'audio_rtf', 'audio_duration', 'audio_underrun'],
      },
    ],
  },
  {
    kind: 'section',
    when: ({ run }) => above0(run.total_images),
    items: [
      { kind: 'title', text: ' Image Result ' },
      { kind: 'row', label: 'Total images generated:', metric: 'total_images', format: 'integer' },
      { kind: 'row', label: 'Image throughput (img/s):', metric: 'image_throughput', format: 'fixed' },
      {
        kind: 'row',
        label: 'Average pixels per image:',
        metric: 'average_pixels_per_image',
        format: 'fixed',
      },
      { kind: 'mean', label: 'Mean denoise step latency (ms):', metric: 'denoise_step_latency' },
      { kind: 'block', metric: 'image_generation', when: 'observed', title: ' Image Generation ' },
    ],
  },
  {
    kind: 'section',
    when: ({ run, distributions }) =>
      above0(run.total_video_duration_s) ||
      above0(run.total_video_frames) ||
      distributions.video_generation.count > 0,
    items: [
      { kind: 'title', text: ' Video Result ' },
      {
        kind: 'row',
        label: 'Total video duration generated(s):',
        metric: 'total_video_duration_s',
        format: 'fixed',
      },
      {
        kind: 'row',
        label: 'Total video frames generated:',
        metric: 'total_video_frames',
        format: 'integer',
      },
      {
        kind: 'row',
        label: 'Video throughput(video duration/s):',
        metric: 'video_throughput',
        format: 'fixed',
      },
      { kind: 'block', metric: 'video_rtf', when: 'observed', title: ' Video RTF ' },
      { kind: 'block', metric: 'video_generation', when: 'observed', title: ' Video Generation ' },
    ],
  },
  { kind: 'stages', title: ' Stage Benchmark Result ', layouts: stageLayouts },
];
