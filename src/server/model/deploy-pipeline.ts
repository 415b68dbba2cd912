import { UsageError } from '../../foundation/errors.ts';
import type { Capability, PipelineDefinition, StageDefinition } from '../pipeline/pipeline-definition.ts';
import { applyStageEntry } from './apply-stage-entry.ts';
import { deepMerge, type PlainObject } from './deep-merge.ts';
import { type DeployFile, pipelineWide, readDeployFile, topLevelNotice } from './deploy-file.ts';
import { type EdgeTransport, edgeTransports } from './edge-transport.ts';
import { globalStageValues } from './global-flags.ts';
import { mediaLimits } from './media-limits.ts';
import { pipelineByName, pipelineForModel, pipelineNames } from './pipeline-registry.ts';
import { readStageEntry } from './stage-entry.ts';
import { readStageOverrides } from './stage-overrides.ts';

/** What says how a model is to be deployed, beside the files. */
export type DeployRequest = {
  readonly model: string;
  /** `null` = the bundled one. */
  readonly deployConfig: string | null;
  /** Section of `platforms` to lay over the stages; `null` = none. */
  readonly platform: string | null;
  /** Explicit flags for all stages, by name without dashes, e.g. `max-num-seqs`. */
  readonly globalFlags: Readonly<Record<string, unknown>>;
  /** `null` = as the files say. */
  readonly asyncChunk: boolean | null;
  readonly stageOverrides: string | PlainObject | null;
};

/** A pipeline as it is to run. */
export type Deployment = {
  readonly pipeline: PipelineDefinition;
  /** What carries payloads over each edge. */
  readonly transports: readonly EdgeTransport[];
  /** What of the request has no effect, for the user to be told. */
  readonly notices: readonly string[];
};

/** One voice on how the stages are deployed; later ones win. */
type Source = {
  readonly name: string;
  readonly byStage: ReadonlyMap<number, PlainObject>;
  readonly unknownKeys: 'extras' | 'refused';
  /** Tell the user what has no effect: of what was given, not of what is bundled. */
  readonly tells: boolean;
};

function byStageId(stages: readonly { stage_id: number }[] | undefined): Map<number, PlainObject> {
  return new Map((stages ?? []).map((stage) => [stage.stage_id, stage]));
}

function pipelineOf(request: DeployRequest, file: DeployFile | null): PipelineDefinition {
  const name = file?.values.pipeline;
  if (name === undefined) return pipelineForModel(request.model);
  const found = pipelineByName(name);
  if (found !== null) return found;
  throw new UsageError(
    `${file?.name ?? ''}: there is no pipeline "${name}". Pipelines: ${pipelineNames().join(', ')}.`,
  );
}

function platformSource(request: DeployRequest, file: DeployFile): Source[] {
  const { platform } = request;
  if (platform === null) return [];
  const section = file.values.platforms?.[platform];
  // The files are written for this one, and need no section of its own.
  if (section === undefined && platform === 'cuda') return [];
  if (section === undefined) {
    const known = ['cuda', ...Object.keys(file.values.platforms ?? {})];
    throw new UsageError(
      `--device ${platform}: ${file.name} has no section for that platform. It has: ${known.join(', ')}.`,
    );
  }
  const byStage = byStageId(section.stages);
  return [{ name: `${file.name}, platforms.${platform}`, byStage, unknownKeys: 'extras', tells: false }];
}

/** Chunk sizes stand in the connector's settings in a real deployment. */
function chunkLaws(stage: StageDefinition, file: DeployFile): PlainObject {
  if (stage.executionType !== 'LLM_GENERATION') return {};
  const chunk: Record<string, unknown> = {};
  for (const { extra } of Object.values(file.values.connectors ?? {})) {
    if (extra?.codec_chunk_frames !== undefined) chunk.frames = extra.codec_chunk_frames;
    if (extra?.initial_codec_chunk_frames !== undefined) chunk.initial = extra.initial_codec_chunk_frames;
  }
  return Object.keys(chunk).length === 0 ? {} : { sim: { chunk } };
}

function fileSource(file: DeployFile, pipeline: PipelineDefinition, tells: boolean): Source {
  const stages = byStageId(file.values.stages);
  const wide = Object.fromEntries(Object.entries(file.values).filter(([key]) => pipelineWide.includes(key)));
  const byStage = new Map<number, PlainObject>();
  for (const stage of pipeline.stages) {
    const own = stages.get(stage.stageId) ?? {};
    byStage.set(stage.stageId, deepMerge(deepMerge(wide, chunkLaws(stage, file)), own));
  }
  for (const [stageId, entry] of stages) if (!byStage.has(stageId)) byStage.set(stageId, entry);
  return { name: file.name, byStage, unknownKeys: 'extras', tells };
}

/** @throws UsageError where a source speaks of a stage that there is not */
function checkStageIds(pipeline: PipelineDefinition, { name, byStage }: Source): void {
  for (const stageId of byStage.keys()) {
    if (pipeline.stages.some((stage) => stage.stageId === stageId)) continue;
    const known = pipeline.stages.map((stage) => `${stage.stageId} (${stage.name})`).join(', ');
    throw new UsageError(`${name}: ${pipeline.name} has no stage "${stageId}". Its stages: ${known}.`);
  }
}

/** The stages as all sources together want them, with what they want, and what of that has no effect. */
function applySources(
  topology: PipelineDefinition,
  sources: readonly Source[],
  deviceSource: string,
): { stages: StageDefinition[]; values: PlainObject[]; notices: string[] } {
  for (const source of sources) checkStageIds(topology, source);
  const effectless = new Map<string, Set<string>>();
  const values = topology.stages.map((stage) => {
    let merged: PlainObject = {};
    for (const source of sources) {
      const entry = source.byStage.get(stage.stageId);
      if (entry === undefined) continue;
      const read = readStageEntry(stage, entry, source.name, source.unknownKeys);
      merged = deepMerge(merged, read.values);
      if (!source.tells || read.withoutEffect.length === 0) continue;
      const keys = effectless.get(source.name) ?? new Set();
      for (const key of read.withoutEffect) keys.add(key);
      effectless.set(source.name, keys);
    }
    return merged;
  });
  const notices = [...effectless].map(
    ([name, keys]) => `${name}: no effect on simulated engines: ${[...keys].join(', ')}.`,
  );
  const stages = topology.stages.map((stage, index) =>
    applyStageEntry(stage, values[index] ?? {}, deviceSource),
  );
  return { stages, values, notices };
}

/** What a deployment in full duplex answers beside its conversations. */
const duplexCapabilities: readonly Capability[] = ['chat', 'realtime'];

function duplexParts(
  { duplex, capabilities }: PipelineDefinition,
  { values }: DeployFile,
): Pick<PipelineDefinition, 'duplex' | 'capabilities'> {
  if (values.session_mode !== 'duplex' || duplex === null) return { duplex: null, capabilities };
  const given = values.duplex_session ?? {};
  return {
    duplex: {
      ...duplex,
      maxSessions: given.max_sessions ?? duplex.maxSessions,
      idleTtlS: given.idle_ttl_s ?? duplex.idleTtlS,
      disconnectGraceS: given.disconnect_grace_s ?? duplex.disconnectGraceS,
    },
    capabilities: capabilities.filter((capability) => duplexCapabilities.includes(capability)),
  };
}

function overridesSource(overrides: string | PlainObject): Source {
  const byStage = readStageOverrides(overrides);
  return { name: '--stage-overrides', byStage, unknownKeys: 'refused', tells: true };
}

/**
 * A pipeline with nothing but `--stage-overrides` laid over it.
 * @throws UsageError
 */
export function overrideStages(
  pipeline: PipelineDefinition,
  overrides: string | PlainObject,
): { readonly pipeline: PipelineDefinition; readonly notices: readonly string[] } {
  const source = overridesSource(overrides);
  const { stages, notices } = applySources(pipeline, [source], source.name);
  return { pipeline: { ...pipeline, stages }, notices };
}

/**
 * The pipeline of a model as it is to be deployed. What wins, from the highest: `--stage-overrides`, explicit flags
 * for all stages, the platform's section, the file, the file that it builds on, the defaults.
 * @throws UnknownModelError, UsageError, InputFileError
 */
export function deployPipeline(request: DeployRequest): Deployment {
  const given = request.deployConfig === null ? null : readDeployFile(request.deployConfig);
  const topology = pipelineOf(request, given);
  const file = given ?? readDeployFile(topology.defaultDeploy);
  const global = globalStageValues(request.globalFlags);
  const tells = given !== null && !given.isBundled;
  const sources: Source[] = [
    fileSource(file, topology, tells),
    ...platformSource(request, file),
    {
      name: 'flags',
      byStage: new Map(topology.stages.map(({ stageId }) => [stageId, global.stageValues])),
      unknownKeys: 'refused',
      tells: false,
    },
    overridesSource(request.stageOverrides ?? {}),
  ];
  const { stages, values, notices } = applySources(topology, sources, file.name);
  const topLevel = tells ? topLevelNotice(file) : null;
  if (topLevel !== null) notices.unshift(topLevel);
  const firstValues = values[0] ?? {};
  const maxModelLen = firstValues.max_model_len;
  const limits = mediaLimits(topology.limitMmPerPrompt, file.values.limit_mm_per_prompt);
  const pipeline: PipelineDefinition = {
    ...topology,
    stages,
    asyncChunk: request.asyncChunk ?? file.values.async_chunk ?? topology.asyncChunk,
    activeStreamWindow: file.values.active_stream_window ?? topology.activeStreamWindow,
    maxModelLen: typeof maxModelLen === 'number' ? maxModelLen : topology.maxModelLen,
    limitMmPerPrompt: mediaLimits(limits, firstValues.limit_mm_per_prompt),
    ...duplexParts(topology, file),
  };
  if (file.values.session_mode === 'duplex' && pipeline.duplex === null)
    notices.push(`${file.name}: session_mode duplex has no effect: ${topology.name} answers in turns.`);
  const transports = edgeTransports(pipeline, values, file.values.connectors ?? {}, file.name);
  return { pipeline, transports, notices };
}
