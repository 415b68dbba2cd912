import type { RunMetric } from '../metric.ts';
import { perSecond } from '../run-figures.ts';

export const totalVideoDurationS: RunMetric = {
  kind: 'run',
  key: 'total_video_duration_s',
  label: 'Total video duration generated(s)',
  title: 'Total video duration generated',
  unit: 's',
  modality: 'video',
  better: 'neither',
  doc: 'Length of all videos of successful requests.',
  source: '`vllm bench serve --omni`',
  of: (run) => run.videoDurationS,
};

export const totalVideoFrames: RunMetric = {
  kind: 'run',
  key: 'total_video_frames',
  label: 'Total video frames generated',
  title: 'Total video frames generated',
  unit: 'count',
  modality: 'video',
  better: 'neither',
  doc: 'Frames of all videos of successful requests.',
  source: '`vllm bench serve --omni`',
  of: (run) => run.videoFrames,
};

export const videoThroughput: RunMetric = {
  kind: 'run',
  key: 'video_throughput',
  label: 'Video throughput(video duration/s)',
  title: 'Video throughput',
  unit: 's/s',
  modality: 'video',
  better: 'higher',
  doc: 'Total video duration over the duration of the run.',
  source: '`vllm bench serve --omni`',
  of: (run) => perSecond(run.videoDurationS, run),
};
