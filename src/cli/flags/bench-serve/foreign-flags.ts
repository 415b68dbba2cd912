import type { Flag, FlagTable } from '../flag.ts';

/** Kind and default of a flag that belongs to a dataset or backend which cannot be used. */
type ForeignFlag =
  | Extract<Flag, { kind: 'choice' }>['choices']
  | Exclude<Flag['kind'], 'choice' | 'number-or-json' | 'pairs' | 'existing-file'>;

/** Flags of the reference by what they belong to. Their values are checked as the reference checks them. */
const foreign = {
  'the dataset daily-omni': {
    'daily-omni-qa-json': 'path',
    'daily-omni-video-dir': 'path',
    'daily-omni-inline-local-video': 'boolean',
    'daily-omni-input-mode': ['all', 'visual', 'audio'],
    'daily-omni-pack-mode': ['qwen', 'minicpm-interleave'],
    'daily-omni-save-eval-items': 'boolean',
  },
  'the dataset videomme': {
    'videomme-parquet': 'path',
    'videomme-video-dir': 'path',
    'videomme-subtitle-dir': 'path',
    'videomme-pack-mode': ['minicpm-frames', 'minicpm-interleave', 'video_url'],
    'videomme-max-frames': 'int',
    'videomme-duration': ['all', 'short', 'medium', 'long'],
    'videomme-use-subtitle': 'boolean',
    'videomme-inline-local-video': 'boolean',
    'videomme-save-eval-items': 'boolean',
  },
  'the seed-tts datasets': {
    'seed-tts-locale': ['en', 'zh'],
    'seed-tts-turns-per-session': 'int',
    'seed-tts-root': 'path',
    'seed-tts-file-ref-audio': 'boolean',
    'seed-tts-inline-ref-audio': 'boolean',
    'seed-tts-system-prompt': 'string',
    'seed-tts-wer-eval': 'boolean',
    'seed-tts-wer-save-items': 'boolean',
  },
} as const satisfies Record<string, Record<string, ForeignFlag>>;

function foreignFlag(belongsTo: string, form: ForeignFlag): Flag {
  const base = {
    group: 'Other datasets',
    belongsTo,
    doc: `Belongs to ${belongsTo}; accepted without effect.`,
    default: null,
  };
  return typeof form === 'string' ? { ...base, kind: form } : { ...base, kind: 'choice', choices: form };
}

/** Known flags that have no effect with any dataset and backend that can be used. */
export const foreignFlags: FlagTable = Object.fromEntries(
  Object.entries(foreign).flatMap(([belongsTo, flags]) =>
    Object.entries(flags).map(([name, form]: [string, ForeignFlag]) => [name, foreignFlag(belongsTo, form)]),
  ),
);
