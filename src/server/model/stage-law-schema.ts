import { z } from 'zod';
import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { PlainObject } from './deep-merge.ts';

const durationMs = z.number().min(0);
const deviation = z.number().min(0).max(1);
const count = z.number().int().min(1);
const slope = z.number().min(0);

const firstOutputSchema = z
  .strictObject({ baseMs: durationMs, perInputTokenMs: durationMs, sd: deviation })
  .partial();
const stepSchema = z
  .strictObject({
    nativeMs: durationMs,
    lockToUpstream: z.number().min(0),
    sd: deviation,
    outlierP: z.number().min(0).max(1),
    outlierScale: z.number().min(0).max(10),
    stallMs: durationMs,
    stallAtToken: z.number().int().min(0),
  })
  .partial();
const slopeObject = z
  .strictObject({
    step: slope,
    ttft: slope,
    ttftPower: z.number().min(0).max(10),
    over: z.enum(['stage', 'pipeline']),
  })
  .partial();
const slopeSchema = z.union([slope, slopeObject]);
const lengthRateSchema = z.strictObject({
  per: z.enum(['inputToken', 'audioSecond', 'imageToken']),
  rate: z.number().min(0),
  min: count,
});
const lengthSchema = z.union([z.literal('fromRequest'), count, z.array(count).min(1), lengthRateSchema]);
const kvSchema = z.strictObject({ readyMs: durationMs, finishMs: durationMs });

const autoregressiveSchema = z
  .strictObject({
    ttft: firstOutputSchema,
    step: stepSchema,
    batchSlope: slopeSchema,
    length: lengthSchema,
    kv: kvSchema.nullable(),
    replies: z.array(z.string().min(1)).min(1).nullable(),
  })
  .partial();
const generationSchema = z
  .strictObject({
    chunk: z.strictObject({ frames: count, initial: count }).partial(),
    decode: z.strictObject({ firstMs: durationMs, baseMs: durationMs, perFrameMs: durationMs }).partial(),
    speech: z
      .strictObject({
        sampleRateHz: count,
        samplesPerFrame: count,
        trimSamples: z.number().int().min(0),
      })
      .partial(),
    batchSlope: slopeSchema,
  })
  .partial();
const diffusionSchema = z
  .strictObject({
    denoise: z
      .strictObject({
        msPerStep: durationMs,
        refPixels: count,
        exponent: z.number().min(0).max(4),
        sd: deviation,
      })
      .partial(),
    encodeMs: durationMs,
    decodeMs: durationMs,
    overheadMs: durationMs,
    peakMemory: z
      .strictObject({ baseMb: z.number().min(0), perMegapixelMb: z.number().min(0), sdMb: z.number().min(0) })
      .partial(),
    batchSlope: slopeSchema,
  })
  .partial();
const poolingSchema = z.strictObject({ ttft: firstOutputSchema, batchSlope: slopeSchema }).partial();

const schemas = {
  LLM_AR: autoregressiveSchema,
  LLM_GENERATION: generationSchema,
  DIFFUSION: diffusionSchema,
  LLM_POOLING: poolingSchema,
};

/** Names of the laws that a stage has. */
export function lawNames({ executionType }: StageDefinition): string[] {
  return Object.keys(schemas[executionType].shape);
}

/** The allowed keys at a place inside a stage's laws. */
function allowedKeys(stage: StageDefinition, path: readonly PropertyKey[]): string[] {
  let schema: unknown = schemas[stage.executionType];
  for (const key of path) {
    if (schema instanceof z.ZodObject) schema = schema.shape[String(key)];
    while (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) schema = schema.unwrap();
    if (schema instanceof z.ZodUnion) schema = schema.options.find((option) => option instanceof z.ZodObject);
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

const lengthForm = '"fromRequest", a whole number ≥ 1, a list of them, or {per, rate, min}';

function describeIssue(stage: StageDefinition, issue: z.core.$ZodIssue): string {
  const where = [`stage ${stage.stageId} (${stage.name})`, ...issue.path.map(String)].join('.');
  if (issue.code === 'invalid_union') {
    // The member that got furthest says most: an object with a wrong key, not "expected a number".
    const [inner] = issue.errors.flat().filter(({ code }) => code === 'unrecognized_keys');
    if (inner !== undefined) return describeIssue(stage, { ...inner, path: [...issue.path, ...inner.path] });
    return `${where}: ${issue.path[0] === 'length' ? `expected ${lengthForm}` : issue.message}`;
  }
  if (issue.code !== 'unrecognized_keys') return `${where}: ${issue.message}`;
  const allowed = allowedKeys(stage, issue.path);
  const [key = ''] = issue.keys;
  return `${where}: ${unknownKey(key, allowed)}`;
}

/** What to say of a key that nobody knows. */
export function unknownKey(key: string, allowed: readonly string[]): string {
  const nearest = nearestName(key, allowed);
  const hint = nearest === null ? '' : ` Did you mean "${nearest}"?`;
  return `unknown key "${key}".${hint} Allowed: ${allowed.join(', ')}`;
}

/** A number stands for both slopes, and a length for a list of one. */
function spelledOut(laws: PlainObject): PlainObject {
  const { batchSlope, length } = laws;
  return {
    ...laws,
    ...(typeof batchSlope === 'number' ? { batchSlope: { step: batchSlope, ttft: batchSlope } } : {}),
    ...(typeof length === 'number' ? { length: [length] } : {}),
  };
}

/**
 * Checks what is to override a stage's laws, and spells its short forms out.
 * @param source where it stands, for the message
 * @throws UsageError at an unknown key or a value that does not fit, naming the nearest allowed key
 */
export function checkLaws(stage: StageDefinition, laws: PlainObject, source: string): PlainObject {
  const result = schemas[stage.executionType].safeParse(laws);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new UsageError(`${source}: ${issue === undefined ? 'invalid' : describeIssue(stage, issue)}.`);
  }
  return spelledOut(laws);
}
