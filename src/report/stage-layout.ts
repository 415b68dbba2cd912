import type { StageMetricKey } from '../metrics/catalogue.ts';
import type { StageClass } from '../metrics/stage-rows.ts';
import type { BlockItem, StageItem } from './layout.ts';

const selected = (metric: StageMetricKey): BlockItem<StageMetricKey> => ({
  kind: 'block',
  metric,
  when: 'selected',
});

const timing: readonly StageItem[] = [
  { kind: 'block', metric: 'stage_gen_time', when: 'observed' },
  { kind: 'block', metric: 'postprocess', when: 'positive' },
];

/** What the stage report prints of each kind of stage. */
export const stageLayouts: Readonly<Record<StageClass, readonly StageItem[]>> = {
  video: [
    { kind: 'title', text: ' Video Result ' },
    {
      kind: 'block',
      metric: 'stage_gen_time',
      when: 'observed',
      title: 'Video Generation',
      label: 'VIDEO_GENERATION',
    },
  ],
  image: [
    { kind: 'title', text: ' Image Result ' },
    { kind: 'total', label: 'Total images generated:', metric: 'stage_images', format: 'integer' },
    {
      kind: 'block',
      metric: 'stage_gen_time',
      when: 'observed',
      title: 'Image Generation',
      label: 'IMAGE_GENERATION',
    },
  ],
  text: [
    ...timing,
    { kind: 'title', text: ' Text Result ' },
    { kind: 'total', label: 'Stage generated tokens:', metric: 'stage_tokens', format: 'integer' },
    selected('serving_ttft'),
    selected('stage_ttft'),
    selected('stage_tpot'),
    selected('stage_itl'),
  ],
  audio: [
    ...timing,
    { kind: 'title', text: ' Audio Result ' },
    {
      kind: 'total',
      label: 'Stage audio duration generated(s):',
      metric: 'stage_audio_duration',
      format: 'fixed',
    },
    {
      kind: 'total',
      label: 'Stage audio frames generated:',
      metric: 'stage_audio_frames',
      format: 'integer',
    },
    selected('serving_audio_ttfp'),
    selected('stage_audio_rtf'),
    {
      kind: 'block',
      metric: 'stage_audio_duration',
      when: 'selected',
      unit: '',
      otherwise: {
        label: 'AUDIO_DURATION skipped:',
        text: 'missing stage-local audio duration/sample rate',
      },
    },
  ],
  stream: [
    ...timing,
    { kind: 'title', text: ' Internal Stream Result ' },
    selected('serving_ttfc'),
    selected('stage_tpop'),
    selected('stage_icl'),
  ],
  other: timing,
};
