import { z } from 'zod';
import { UsageError } from '../../foundation/errors.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import { isPlainObject, type PlainObject } from './deep-merge.ts';
import { mediaLimitsSchema } from './media-limits.ts';
import { checkLaws, lawNames, unknownKey } from './stage-law-schema.ts';

const positive = z.number().int().min(1);
/** `"0,1"`, `0` or `[0, 1]`. */
const devices = z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))]);

/** Keys of a stage's deployment that have a meaning here, and what they must be. */
const meaningful = {
  max_num_seqs: positive,
  max_num_batched_tokens: positive,
  max_model_len: positive,
  kv_cache_tokens: positive,
  num_replicas: positive,
  devices,
  tensor_parallel_size: positive,
  data_parallel_size: positive,
  pipeline_parallel_size: positive,
  default_sampling_params: z.record(z.string(), z.unknown()),
  limit_mm_per_prompt: mediaLimitsSchema,
  step_execution: z.boolean(),
  input_connectors: z.record(z.string(), z.string()),
  output_connectors: z.record(z.string(), z.string()),
  engine: z.union([z.string(), z.looseObject({ name: z.string() })]),
  engine_extras: z.record(z.string(), z.unknown()),
  sim: z.record(z.string(), z.unknown()),
};

/** Keys of a real deployment that a simulated engine has no use for. */
const withoutEffect = [
  'gpu_memory_utilization',
  'kv_cache_memory_bytes',
  'enforce_eager',
  'async_scheduling',
  'enable_prefix_caching',
  'enable_chunked_prefill',
  'dtype',
  'quantization',
  'trust_remote_code',
  'distributed_executor_backend',
  'mm_processor_cache_gb',
  'hf_overrides',
  'custom_voice_dir',
  'model_runner',
];

/** Other spellings. */
const spellings: Readonly<Record<string, string>> = { maxNumSeqs: 'max_num_seqs' };

/** What a source says of one stage, in one form: laws under `sim`, what nobody knows under `engine_extras`. */
export type StageEntry = { readonly values: PlainObject; readonly withoutEffect: readonly string[] };

function objectAt(value: unknown): PlainObject {
  return isPlainObject(value) ? value : {};
}

/**
 * Brings what a source says of a stage into one form.
 * @param source where it stands, for messages
 * @param unknownKeys whether a key that nobody knows is for an engine that does, or a mistake
 * @throws UsageError at a value that does not fit, or a key that is a mistake
 */
export function readStageEntry(
  stage: StageDefinition,
  entry: PlainObject,
  source: string,
  unknownKeys: 'extras' | 'refused',
): StageEntry {
  const names = lawNames(stage);
  const values: Record<string, unknown> = {};
  const laws: Record<string, unknown> = { ...objectAt(entry.sim) };
  const extras: Record<string, unknown> = {};
  const effectless: string[] = [];
  const where = `${source}: stage ${stage.stageId} (${stage.name})`;
  for (const [given, value] of Object.entries(entry)) {
    const key = spellings[given] ?? given;
    if (key === 'stage_id' || key === 'sim') continue;
    if (names.includes(key)) laws[key] = value;
    else if (Object.hasOwn(meaningful, key)) values[key] = value;
    else if (withoutEffect.includes(key)) effectless.push(key);
    else if (unknownKeys === 'extras') extras[key] = value;
    else {
      const allowed = [...names, ...Object.keys(meaningful), ...withoutEffect];
      throw new UsageError(`${where}: ${unknownKey(key, allowed)}.`);
    }
  }
  const result = z.strictObject(meaningful).partial().safeParse(values);
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = issue?.path.map(String).join('.') ?? '';
    throw new UsageError(`${where}${place === '' ? '' : `.${place}`}: ${issue?.message ?? 'invalid'}.`);
  }
  if (Object.keys(laws).length > 0) values.sim = checkLaws(stage, laws, source);
  if (Object.keys(extras).length > 0) values.engine_extras = { ...objectAt(values.engine_extras), ...extras };
  return { values, withoutEffect: [...effectless, ...Object.keys(extras)] };
}
