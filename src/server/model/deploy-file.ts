import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { deepMerge, isPlainObject, type PlainObject } from './deep-merge.ts';
import { mediaLimitsSchema } from './media-limits.ts';

/** The deployments that the package carries; the build copies them to stand beside the bundle's chunks. */
const bundledFolder = fileURLToPath(new URL('./deploy/', import.meta.url));

const connectorSchema = z.looseObject({
  name: z.string(),
  extra: z.record(z.string(), z.unknown()).optional(),
});
const edgeSchema = z.looseObject({ from: z.number().int(), to: z.number().int() });
const stageSchema = z.looseObject({ stage_id: z.number().int().min(0) });
const sectionSchema = z.looseObject({ stages: z.array(stageSchema).optional() });

/** The keys of a file that mean something here; others are engine settings for all stages. */
const fileSchema = z.looseObject({
  base_config: z.string().optional(),
  pipeline: z.string().optional(),
  async_chunk: z.boolean().optional(),
  session_mode: z.enum(['turn', 'duplex']).optional(),
  active_stream_window: z.number().int().min(0).optional(),
  duplex_session: z
    .looseObject({
      max_sessions: z.number().int().min(1),
      idle_ttl_s: z.number().positive(),
      disconnect_grace_s: z.number().min(0),
    })
    .partial()
    .optional(),
  connectors: z.record(z.string(), connectorSchema).optional(),
  edges: z.array(edgeSchema).optional(),
  stages: z.array(stageSchema).optional(),
  platforms: z.record(z.string(), sectionSchema).optional(),
  limit_mm_per_prompt: mediaLimitsSchema.optional(),
  endpoint_restrictions: z.unknown().optional(),
});

/** What a file, with those that it builds on, says. */
export type DeployFile = {
  /** As it was named, for messages. */
  readonly name: string;
  /** Carried by the package. */
  readonly isBundled: boolean;
  readonly values: z.infer<typeof fileSchema>;
};

/** Stage settings that a file gives at its top level, for all stages. */
export const pipelineWide = ['data_parallel_size', 'pipeline_parallel_size'];

/** What of a file's top level has no effect, for the user; `null` = all has. */
export function topLevelNotice({ name, values }: DeployFile): string | null {
  const known = [...Object.keys(fileSchema.shape), ...pipelineWide];
  const others = Object.keys(values).filter((key) => !known.includes(key));
  if (others.length === 0) return null;
  const slips = others.flatMap((key) => {
    const nearest = nearestName(key, known);
    return nearest === null ? [] : [` Did you mean "${nearest}" by "${key}"?`];
  });
  return `${name}: no effect at the top level: ${others.join(', ')}.${slips.join('')}`;
}

/** Names of the deployments that the package carries. */
export function bundledDeployNames(): string[] {
  return readdirSync(bundledFolder)
    .filter((name) => name.endsWith('.yaml'))
    .sort();
}

/** A path as given, or a bundled deployment of that name. */
function locate(name: string, fromFolder: string): string {
  const path = resolve(fromFolder, name);
  if (existsSync(path)) return path;
  const bundled = bundledDeployNames().find((known) => known === name || known === `${name}.yaml`);
  if (bundled !== undefined) return resolve(bundledFolder, bundled);
  throw new InputFileError(
    `The deployment file ${name} does not exist (looked for ${path}, and among the bundled ones: ` +
      `${bundledDeployNames().join(', ')}).`,
  );
}

/** Stages by id, so that an overlay changes those of its parent instead of replacing the list. */
function mergedStages(base: unknown, over: unknown): unknown[] {
  const byId = new Map<number, PlainObject>();
  for (const stage of [...(Array.isArray(base) ? base : []), ...(Array.isArray(over) ? over : [])]) {
    if (!isPlainObject(stage) || typeof stage.stage_id !== 'number') continue;
    byId.set(stage.stage_id, deepMerge(byId.get(stage.stage_id) ?? {}, stage));
  }
  return [...byId.values()];
}

function mergedPlatforms(base: unknown, over: unknown): PlainObject {
  const platforms: Record<string, unknown> = isPlainObject(base) ? { ...base } : {};
  for (const [name, section] of Object.entries(isPlainObject(over) ? over : {})) {
    const held = platforms[name];
    platforms[name] =
      isPlainObject(held) && isPlainObject(section)
        ? { ...held, ...section, stages: mergedStages(held.stages, section.stages) }
        : section;
  }
  return platforms;
}

/** An overlay on its parent: stages and platforms are merged by stage, everything else is replaced. */
function overlaid(base: PlainObject, over: PlainObject): PlainObject {
  return {
    ...base,
    ...over,
    stages: mergedStages(base.stages, over.stages),
    platforms: mergedPlatforms(base.platforms, over.platforms),
  };
}

/** The form of 2025: one list of stages with `engine_args` and `runtime` apart. */
function fromLegacy(file: PlainObject): PlainObject {
  if (!Array.isArray(file.stage_args)) return file;
  const { stage_args: stageArgs, runtime: _runtime, ...rest } = file;
  const stages = stageArgs.filter(isPlainObject).map((stage, index) => {
    const { engine_args: engineArgs, runtime } = stage;
    const {
      model_stage: _name,
      engine_output_type: _type,
      ...args
    } = isPlainObject(engineArgs) ? engineArgs : {};
    const { devices, max_batch_size: maxBatchSize } = isPlainObject(runtime) ? runtime : {};
    return {
      stage_id: typeof stage.stage_id === 'number' ? stage.stage_id : index,
      ...args,
      ...(devices === undefined ? {} : { devices }),
      ...(maxBatchSize === undefined ? {} : { max_num_seqs: maxBatchSize }),
      ...(stage.default_sampling_params === undefined
        ? {}
        : { default_sampling_params: stage.default_sampling_params }),
    };
  });
  return { ...rest, stages };
}

/** @throws InputFileError where one list speaks of a stage twice: which one counts would be a guess */
function checkStagesOnce(path: string, place: string, stages: unknown): void {
  const seen = new Set<unknown>();
  for (const stage of Array.isArray(stages) ? stages.filter(isPlainObject) : []) {
    const id = stage.stage_id;
    if (id !== undefined && seen.has(id))
      throw new InputFileError(
        `${path}: ${place} has stage_id ${String(id)} twice. Put both into one entry.`,
      );
    seen.add(id);
  }
}

function checkAllStagesOnce(path: string, file: PlainObject): PlainObject {
  checkStagesOnce(path, 'stages', file.stages);
  for (const [name, section] of Object.entries(isPlainObject(file.platforms) ? file.platforms : {}))
    if (isPlainObject(section)) checkStagesOnce(path, `platforms.${name}.stages`, section.stages);
  return file;
}

function readYaml(path: string): PlainObject {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InputFileError(`The deployment file ${path} cannot be read as YAML: ${messageOf(error)}.`);
  }
  if (value === null || value === undefined) return {};
  if (!isPlainObject(value))
    throw new InputFileError(
      `The deployment file ${path} must hold keys and values, e.g. "async_chunk: true".`,
    );
  return checkAllStagesOnce(path, fromLegacy(value));
}

function readWithBase(path: string, below: readonly string[]): PlainObject {
  if (below.includes(path))
    throw new InputFileError(
      `The deployment files ${[...below, path].join(' → ')} build on each other in a circle.`,
    );
  const file = readYaml(path);
  const { base_config: base, ...own } = file;
  if (base === undefined) return own;
  if (typeof base !== 'string') throw new InputFileError(`${path}: base_config must name a file.`);
  return overlaid(readWithBase(locate(base, dirname(path)), [...below, path]), own);
}

/**
 * Reads a deployment file and those that it builds on (`base_config`).
 * @param name a path, or the name of a bundled deployment
 * @throws InputFileError where a file is missing, malformed, or a value does not fit
 */
export function readDeployFile(name: string): DeployFile {
  const path = locate(name, '.');
  const values = readWithBase(path, []);
  const result = fileSchema.safeParse(values);
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = issue?.path.map(String).join('.') ?? '';
    throw new InputFileError(`${name}: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'invalid'}.`);
  }
  return { name, isBundled: dirname(path) === resolve(bundledFolder), values: result.data };
}
