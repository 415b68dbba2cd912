import { UsageError } from '../../foundation/errors.ts';
import type { DiffusionDefaults } from '../engine/diffusion-plan.ts';
import type { EngineChoice, StageDefinition } from '../pipeline/pipeline-definition.ts';
import { deepMerge, isPlainObject, type PlainObject } from './deep-merge.ts';

function numberAt(values: PlainObject, key: string): number | null {
  const value = values[key];
  return typeof value === 'number' ? value : null;
}

function objectAt(values: PlainObject, key: string): PlainObject {
  const value = values[key];
  return isPlainObject(value) ? value : {};
}

function deviceCount(devices: unknown): number | null {
  if (typeof devices === 'number') return 1;
  if (Array.isArray(devices)) return devices.length;
  if (typeof devices !== 'string') return null;
  return devices.split(',').filter((device) => device.trim() !== '').length;
}

/** @throws UsageError where the devices of a stage are not as many as its replicas need */
function checkDevices(stage: StageDefinition, values: PlainObject, source: string): void {
  const devices = deviceCount(values.devices);
  if (devices === null) return;
  const sizeOf = (key: string): number => numberAt(values, key) ?? 1;
  const perReplica =
    sizeOf('tensor_parallel_size') * sizeOf('data_parallel_size') * sizeOf('pipeline_parallel_size');
  const forAll = perReplica * stage.numReplicas;
  if (devices === perReplica || devices === forAll) return;
  const needed = stage.numReplicas === 1 ? `${perReplica}` : `${perReplica} (shared) or ${forAll}`;
  throw new UsageError(
    `${source}: stage ${stage.stageId} (${stage.name}): devices "${String(values.devices)}" are ${devices}, but ` +
      `tensor × data × pipeline parallel size${stage.numReplicas === 1 ? '' : ` and ${stage.numReplicas} replicas`} need ${needed}.`,
  );
}

function engineChoice(values: PlainObject, held: EngineChoice): EngineChoice {
  const { engine } = values;
  if (typeof engine === 'string') return { name: engine, options: {} };
  if (!isPlainObject(engine) || typeof engine.name !== 'string') return held;
  const { name, ...options } = engine;
  return { name, options };
}

/** Overrides laws member by member. What overrides was checked against the laws' own schema before. */
function withLaws<Laws extends object>(laws: Laws, values: PlainObject): Laws {
  const sim = objectAt(values, 'sim');
  return Object.keys(sim).length === 0
    ? laws
    : { ...laws, ...deepMerge(Object.fromEntries(Object.entries(laws)), sim) };
}

function diffusionDefaults(held: DiffusionDefaults, sampling: PlainObject): DiffusionDefaults {
  return {
    widthPx: numberAt(sampling, 'width') ?? held.widthPx,
    heightPx: numberAt(sampling, 'height') ?? held.heightPx,
    numInferenceSteps: numberAt(sampling, 'num_inference_steps') ?? held.numInferenceSteps,
    numFrames: numberAt(sampling, 'num_frames') ?? held.numFrames,
    fps: numberAt(sampling, 'fps') ?? numberAt(sampling, 'frame_rate') ?? held.fps,
  };
}

/**
 * A stage as its deployment wants it.
 * @param values what all sources together say of it, in the form of `readStageEntry`
 * @throws UsageError where the count of devices does not fit
 */
export function applyStageEntry(
  stage: StageDefinition,
  values: PlainObject,
  source: string,
): StageDefinition {
  const common = {
    maxNumSeqs: numberAt(values, 'max_num_seqs') ?? stage.maxNumSeqs,
    numReplicas: numberAt(values, 'num_replicas') ?? stage.numReplicas,
    engine: engineChoice(values, stage.engine),
    engineExtras: { ...stage.engineExtras, ...objectAt(values, 'engine_extras') },
  };
  const sampling = objectAt(values, 'default_sampling_params');
  checkDevices({ ...stage, ...common }, values, source);
  switch (stage.executionType) {
    case 'LLM_AR':
      return {
        ...stage,
        ...common,
        maxNumBatchedTokens: numberAt(values, 'max_num_batched_tokens') ?? stage.maxNumBatchedTokens,
        kvCacheTokens: numberAt(values, 'kv_cache_tokens') ?? stage.kvCacheTokens,
        defaultMaxTokens: numberAt(sampling, 'max_tokens') ?? stage.defaultMaxTokens,
        laws: withLaws(stage.laws, values),
      };
    case 'LLM_GENERATION':
      return { ...stage, ...common, laws: withLaws(stage.laws, values) };
    case 'DIFFUSION':
      return {
        ...stage,
        ...common,
        stepExecution:
          typeof values.step_execution === 'boolean' ? values.step_execution : stage.stepExecution,
        defaults: diffusionDefaults(stage.defaults, sampling),
        laws: withLaws(stage.laws, values),
      };
    case 'LLM_POOLING':
      return { ...stage, ...common, laws: withLaws(stage.laws, values) };
  }
}
