import { z } from 'zod';
import { InputFileError } from '../foundation/errors.ts';
import { endpointOutputs, type RunFacts } from './run-facts.ts';

const numberOrNull = z.number().nullable();

const runFactsSchema: z.ZodType<RunFacts> = z.strictObject({
  format: z.literal(1),
  omnimeterVersion: z.string(),
  argv: z.array(z.string()),
  startedAt: z.string(),
  hostClockOffsetMs: z.number(),
  startMs: numberOrNull,
  endMs: numberOrNull,
  interrupted: z.boolean(),
  omni: z.boolean(),
  endpoint: z.strictObject({
    name: z.string(),
    itl: z.enum(['chunk_gap', 'token_split']),
    latencyEnd: z.enum(['last_choice', 'last_message', 'body_end']),
    output: z.enum(endpointOutputs),
  }),
  url: z.string(),
  modelId: z.string(),
  servedModelName: z.string().nullable(),
  tokenizerId: z.string().nullable(),
  hasTokenizer: z.boolean(),
  dataset: z.string(),
  numPrompts: z.number(),
  requestRate: numberOrNull,
  burstiness: numberOrNull,
  maxConcurrency: numberOrNull,
  rampUp: z
    .strictObject({ strategy: z.enum(['linear', 'exponential']), startRps: z.number(), endRps: z.number() })
    .nullable(),
  rpsChangeEvents: z.array(z.strictObject({ rps: z.number(), timestamp: z.string() })),
  seed: z.number(),
  label: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  percentileMetrics: z.array(z.string()),
  metricPercentiles: z.array(z.number()),
  goodput: z.record(z.string(), z.number()),
  printStage: z.boolean(),
  continuityThresholdS: z.number(),
  temperature: numberOrNull,
  self: z
    .strictObject({
      loadThreads: z.number(),
      transport: z.string(),
      arrivalClock: z.string(),
      sendLagP50Ms: numberOrNull,
      sendLagP99Ms: numberOrNull,
      sendLagMaxMs: numberOrNull,
      loopDelayP99Ms: numberOrNull,
      loopDelayMaxMs: numberOrNull,
      loopUtilizationRatio: numberOrNull,
      cpuS: numberOrNull,
      gcPauseMs: numberOrNull,
      connectionsOpened: numberOrNull,
      connectionsReused: numberOrNull,
      maxInFlight: numberOrNull,
    })
    .nullable(),
  // Absent from runs of before they were recorded.
  measuredCount: numberOrNull.default(null),
  datasetResults: z.record(z.string(), z.unknown()).default({}),
  datasetLines: z.array(z.string()).default([]),
  environment: z
    .strictObject({
      nodeVersion: z.string(),
      platform: z.string(),
      architecture: z.string(),
      cpuModel: z.string(),
      cpuCount: z.number(),
      memoryBytes: z.number(),
    })
    .nullable()
    .default(null),
});

/** The text of `run.json`. */
export function encodeRunFacts(facts: RunFacts): string {
  return `${JSON.stringify(facts, null, 2)}\n`;
}

/** @throws InputFileError when the text is not a `run.json` of this version */
export function decodeRunFacts(text: string, path: string): RunFacts {
  try {
    return runFactsSchema.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll('\n', ' ') : String(cause);
    throw new InputFileError(
      `${path}: not a run description (${reason}). Was it written by another version?`,
      {
        cause,
      },
    );
  }
}
