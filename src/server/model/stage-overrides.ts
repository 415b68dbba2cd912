import { z } from 'zod';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { AutoregressiveLaws, GenerationLaws } from '../engine/sim-laws.ts';
import type {
  AutoregressiveStage,
  GenerationStage,
  PipelineDefinition,
  StageDefinition,
} from '../pipeline/pipeline-definition.ts';

const durationMs = z.number().min(0);
const deviation = z.number().min(0).max(1);
const count = z.number().int().min(1);
const slope = z.number().min(0);

const firstOutputShape = { baseMs: durationMs, perInputTokenMs: durationMs, sd: deviation };
const stepShape = {
  nativeMs: durationMs,
  lockToUpstream: z.number().min(0),
  sd: deviation,
  outlierP: z.number().min(0).max(1),
  outlierScale: z.number().min(0).max(10),
};
const slopeSchema = z.union([slope, z.strictObject({ step: slope, ttft: slope }).partial()]);
const lengthSchema = z.union([z.literal('fromRequest'), count, z.array(count).min(1)]);

const autoregressiveShape = {
  ttft: z.strictObject(firstOutputShape).partial(),
  step: z.strictObject(stepShape).partial(),
  batchSlope: slopeSchema,
  length: lengthSchema,
  maxNumSeqs: count,
};
const generationShape = {
  chunk: z.strictObject({ frames: count, initial: count }).partial(),
  decode: z.strictObject({ firstMs: durationMs, baseMs: durationMs, perFrameMs: durationMs }).partial(),
  batchSlope: slopeSchema,
  maxNumSeqs: count,
};
const autoregressiveSchema = z.strictObject(autoregressiveShape).partial();
const generationSchema = z.strictObject(generationShape).partial();

/** Keys of a real deployment that have no meaning for a simulated engine, but for `max_num_seqs`. */
const deploymentKeys = [
  'max_num_seqs',
  'gpu_memory_utilization',
  'kv_cache_memory_bytes',
  'tensor_parallel_size',
  'enforce_eager',
  'max_num_batched_tokens',
  'max_model_len',
  'async_scheduling',
  'devices',
  'limit_mm_per_prompt',
  'default_sampling_params',
] as const;

/** A pipeline with its overrides, and what of them has no effect, for the user to be told. */
export type OverriddenPipeline = {
  readonly pipeline: PipelineDefinition;
  readonly notices: readonly string[];
};

/** The allowed keys at a place inside a stage's overrides. */
function allowedKeys(stage: StageDefinition, path: readonly PropertyKey[]): string[] {
  const shape = stage.executionType === 'LLM_AR' ? autoregressiveShape : generationShape;
  const [law] = path;
  if (law === undefined) return [...Object.keys(shape), ...deploymentKeys];
  if (law === 'ttft') return Object.keys(firstOutputShape);
  if (law === 'step') return Object.keys(stepShape);
  if (law === 'batchSlope') return ['step', 'ttft'];
  if (law === 'chunk') return ['frames', 'initial'];
  return ['firstMs', 'baseMs', 'perFrameMs'];
}

function describeIssue(stage: StageDefinition, issue: z.core.$ZodIssue): string {
  const where = [`stage ${stage.stageId} (${stage.name})`, ...issue.path.map(String)].join('.');
  if (issue.code === 'invalid_union') {
    // The member that got furthest says most: an object with a wrong key, not "expected a number".
    const [inner] = issue.errors.flat().filter(({ code }) => code === 'unrecognized_keys');
    if (inner !== undefined) return describeIssue(stage, { ...inner, path: [...issue.path, ...inner.path] });
    return `${where}: ${issue.path[0] === 'length' ? 'expected "fromRequest", a whole number ≥ 1 or a list of them' : issue.message}`;
  }
  if (issue.code !== 'unrecognized_keys') return `${where}: ${issue.message}`;
  const allowed = allowedKeys(stage, issue.path);
  const [key = ''] = issue.keys;
  const nearest = nearestName(key, allowed);
  const hint = nearest === null ? '' : ` Did you mean "${nearest}"?`;
  return `${where}: unknown key "${key}".${hint} Allowed: ${allowed.join(', ')}`;
}

function parsed<T>(schema: z.ZodType<T>, stage: StageDefinition, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(
    `--stage-overrides: ${issue === undefined ? 'invalid' : describeIssue(stage, issue)}.`,
  );
}

/** Overrides `base` by the fields of `over` that are set. */
function overlay<T extends object>(base: T, over: Partial<Record<keyof T, unknown>> | undefined): T {
  const set = Object.entries(over ?? {}).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(set) };
}

type SlopeOverride = z.infer<typeof slopeSchema> | undefined;

function overriddenSlope(base: AutoregressiveLaws['batchSlope'], over: SlopeOverride): typeof base {
  return typeof over === 'number' ? { step: over, ttft: over } : overlay(base, over);
}

function overrideAutoregressive(stage: AutoregressiveStage, value: unknown): AutoregressiveStage {
  const over = parsed(autoregressiveSchema, stage, value);
  const { length } = over;
  const laws: AutoregressiveLaws = {
    ...stage.laws,
    ttft: overlay(stage.laws.ttft, over.ttft),
    step: overlay(stage.laws.step, over.step),
    batchSlope: overriddenSlope(stage.laws.batchSlope, over.batchSlope),
    length: length === undefined ? stage.laws.length : typeof length === 'number' ? [length] : length,
  };
  return { ...stage, laws, maxNumSeqs: over.maxNumSeqs ?? stage.maxNumSeqs };
}

function overrideGeneration(stage: GenerationStage, value: unknown): GenerationStage {
  const over = parsed(generationSchema, stage, value);
  const laws: GenerationLaws = {
    ...stage.laws,
    chunk: overlay(stage.laws.chunk, over.chunk),
    decode: overlay(stage.laws.decode, over.decode),
    batchSlope: overriddenSlope(stage.laws.batchSlope, over.batchSlope),
  };
  return { ...stage, laws, maxNumSeqs: over.maxNumSeqs ?? stage.maxNumSeqs };
}

/** Takes the deployment's keys out of a stage's overrides, and turns the one that has a meaning into ours. */
function splitDeploymentKeys(value: Record<string, unknown>): {
  laws: Record<string, unknown>;
  unused: string[];
} {
  const laws: Record<string, unknown> = {};
  const unused: string[] = [];
  for (const [key, entry] of Object.entries(value)) {
    if (key === 'max_num_seqs') laws.maxNumSeqs = entry;
    else if (deploymentKeys.some((known) => known === key)) unused.push(key);
    else laws[key] = entry;
  }
  return { laws, unused };
}

function readOverrides(overrides: string | Readonly<Record<string, unknown>>): Record<string, unknown> {
  let value: unknown = overrides;
  if (typeof overrides === 'string') {
    try {
      value = JSON.parse(overrides);
    } catch (error) {
      throw new UsageError(`--stage-overrides is not valid JSON: ${messageOf(error)}. ${expectedForm}`);
    }
  }
  const record = z.record(z.string(), z.unknown()).safeParse(value);
  if (!record.success) throw new UsageError(`--stage-overrides must be a JSON object. ${expectedForm}`);
  return record.data;
}

const expectedForm = 'Expected stage ids with what to override, as {"0":{"step":{"nativeMs":20}}}.';

/**
 * A pipeline with the laws and limits that `--stage-overrides` sets by stage id.
 * @param overrides JSON text or the object itself
 * @throws UsageError at an unknown stage, key or value, naming the nearest allowed key
 */
export function overrideStages(
  pipeline: PipelineDefinition,
  overrides: string | Readonly<Record<string, unknown>>,
): OverriddenPipeline {
  const byStage = readOverrides(overrides);
  const known = pipeline.stages.map((stage) => String(stage.stageId));
  const unknownStage = Object.keys(byStage).find((id) => !known.includes(id));
  if (unknownStage !== undefined) {
    const names = pipeline.stages.map(({ stageId, name }) => `${stageId} (${name})`).join(', ');
    throw new UsageError(
      `--stage-overrides: ${pipeline.name} has no stage "${unknownStage}". Its stages: ${names}.`,
    );
  }
  const notices: string[] = [];
  const stages = pipeline.stages.map((stage): StageDefinition => {
    const value = byStage[String(stage.stageId)];
    if (value === undefined) return stage;
    const { laws, unused } = splitDeploymentKeys(parsed(z.record(z.string(), z.unknown()), stage, value));
    for (const key of unused) {
      notices.push(`--stage-overrides: stage ${stage.stageId}: ${key} has no effect on a simulated engine.`);
    }
    if (stage.executionType === 'LLM_AR') return overrideAutoregressive(stage, laws);
    if (stage.executionType === 'LLM_GENERATION') return overrideGeneration(stage, laws);
    return stage;
  });
  return { pipeline: { ...pipeline, stages }, notices };
}
