import type { RunMetric } from '../metric.ts';
import { perSecond, type RunFigures } from '../run-figures.ts';

/** A sum over audio; `null` where audio came of which nothing is known. */
function known(sum: number, run: RunFigures): number | null {
  return run.audioReplies > 0 && run.timedAudioReplies === 0 ? null : sum;
}

export const totalAudioDurationS: RunMetric = {
  kind: 'run',
  key: 'total_audio_duration_s',
  label: 'Total audio duration generated(s)',
  title: 'Total audio duration generated',
  unit: 's',
  modality: 'audio',
  better: 'neither',
  doc: 'Length of all audio of successful requests. A total that falls as concurrency rises means that speech was cut off. `null` where no reply’s audio could be decoded.',
  source: '`vllm bench serve --omni`; vLLM-Omni issue #4957',
  of: (run) => known(run.audioDurationS, run),
};

export const totalAudioFrames: RunMetric = {
  kind: 'run',
  key: 'total_audio_frames',
  label: 'Total audio frames generated',
  title: 'Total audio frames generated',
  unit: 'samples',
  modality: 'audio',
  better: 'neither',
  doc: 'Samples per channel of all audio of successful requests.',
  source: '`vllm bench serve --omni`',
  of: (run) => known(run.audioFrames, run),
};

export const audioThroughput: RunMetric = {
  kind: 'run',
  key: 'audio_throughput',
  label: 'Audio throughput(audio duration/s)',
  title: 'Audio throughput',
  unit: 's/s',
  modality: 'audio',
  better: 'higher',
  doc: 'Total audio duration over the duration of the run.',
  source: '`vllm bench serve --omni`',
  of: (run) => perSecond(known(run.audioDurationS, run), run),
};

export const audioContinuityOkRate: RunMetric = {
  kind: 'run',
  key: 'audio_continuity_ok_rate',
  label: 'Streaming continuity OK rate',
  title: 'Streaming continuity OK rate',
  unit: 'ratio',
  modality: 'audio',
  better: 'higher',
  doc: 'Share of replies whose audio underrun is within the threshold (0.1 s, or `VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S`), among those for which it is known. `null` (`n/a`) where it is known for none.',
  source: 'vLLM-Omni PR #3618',
  of: (run) => (run.continuityKnown > 0 ? run.continuityOk / run.continuityKnown : null),
};

export const rtfx: RunMetric = {
  kind: 'run',
  key: 'rtfx',
  label: 'RTFx (Inverse Real-Time Factor)',
  title: 'RTFx',
  unit: 's/s',
  modality: 'audio',
  better: 'higher',
  doc: 'Length of the audio sent with successful requests over the duration of the run.',
  source: '`vllm bench serve`',
  of: (run) => perSecond(run.inputAudioDurationS, run),
};
