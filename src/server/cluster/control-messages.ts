import { z } from 'zod';
import type {
  EngineStats,
  StageFailure,
  StageOutput,
  StageProgress,
  StageRequest,
} from '../engine/stage-engine.ts';
import { isPlainObject } from '../model/deep-merge.ts';
import type { Edge, TransferMetadata } from '../pipeline/transfer-metadata.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';

/** Raised whenever a message changes its form: processes of one deployment must agree. */
export const protocolVersion = 1;

/** Where processes of a deployment reach each other. */
export const subjects = {
  register: (deployment: string): string => `omnimeter.${deployment}.register`,
  /** For the head that answers registrations. */
  heartbeat: (deployment: string, headId: string): string => `omnimeter.${deployment}.${headId}.heartbeat`,
  payload: (deployment: string, processId: string): string => `omnimeter.${deployment}.${processId}.payload`,
  toWorker: (deployment: string, workerId: string): string => `omnimeter.${deployment}.${workerId}.tasks`,
  ping: (deployment: string, workerId: string): string => `omnimeter.${deployment}.${workerId}.ping`,
  toHead: (deployment: string, workerId: string): string => `omnimeter.${deployment}.${workerId}.outputs`,
};

/**
 * A value whose shape the sender's types vouch for: both ends run the same version, which registration checks. Only
 * what a reader branches on is looked at.
 */
function vouched<Value>(...numbers: (keyof Value & string)[]): z.ZodType<Value> {
  return z.custom<Value>(
    (value) => isPlainObject(value) && numbers.every((key) => typeof value[key] === 'number'),
  );
}

const sequence = z.number().int().min(0);
const edge = vouched<Edge>('from', 'to');

const toWorkerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('submit'), sequence, request: vouched<StageRequest>('arrivalIndex', 'pace') }),
  z.object({
    type: z.literal('fetch'),
    sequence,
    edge,
    metadata: vouched<TransferMetadata>('sizeBytes', 'putMs'),
  }),
  z.object({ type: z.literal('abort'), sequence }),
  /** The head does not count on the worker any more. */
  z.object({ type: z.literal('leave'), reason: z.string() }),
]);

/** What the head tells a worker. */
export type ToWorker = z.infer<typeof toWorkerSchema>;

const toHeadSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output'), sequence, output: vouched<StageOutput>('dueMs', 'units', 'stepMs') }),
  z.object({ type: z.literal('progress'), sequence, progress: vouched<StageProgress>('percent') }),
  z.object({ type: z.literal('failure'), sequence, failure: vouched<StageFailure>('status') }),
  /** A payload has been fetched. */
  z.object({
    type: z.literal('received'),
    sequence,
    key: z.string(),
    rxMs: z.number(),
    inFlightMs: z.number(),
  }),
  z.object({ type: z.literal('bye'), reason: z.string() }),
]);

/** What a worker tells the head. */
export type ToHead = z.infer<typeof toHeadSchema>;

const toWorkerBatch = z.object({ load: z.number(), messages: z.array(toWorkerSchema) });
const toHeadBatch = z.array(toHeadSchema);

/** @param load requests under way in the whole pipeline */
export function encodeToWorker(load: number, messages: readonly ToWorker[]): Uint8Array {
  return encodeMessage({ load, messages });
}

/** @throws Error for bytes that are no such message */
export function decodeToWorker(bytes: Uint8Array): z.infer<typeof toWorkerBatch> {
  return toWorkerBatch.parse(decodeMessage(bytes));
}

export function encodeToHead(messages: readonly ToHead[]): Uint8Array {
  return encodeMessage(messages);
}

/** @throws Error for bytes that are no such message */
export function decodeToHead(bytes: Uint8Array): ToHead[] {
  return toHeadBatch.parse(decodeMessage(bytes));
}

/** What must be equal in all processes of a deployment, for a stage to keep its laws. */
export type DeploymentFacts = {
  readonly protocol: number;
  readonly pipeline: string;
  readonly timeScale: number;
  readonly seed: number;
  readonly asyncChunk: boolean;
};

const registrationSchema = z.object({
  facts: z.object({
    protocol: z.number(),
    pipeline: z.string(),
    timeScale: z.number(),
    seed: z.number(),
    asyncChunk: z.boolean(),
  }),
  workerId: z.string().regex(/^[\w-]+$/),
  stageId: z.number().int().min(0),
  /** Slot that it had before; `null` = any. */
  replicaId: z.number().int().min(0).nullable(),
  kind: z.enum(['ar', 'generation', 'diffusion', 'pooling']),
  /** Processes with equal ones share memory. */
  hostId: z.string(),
});

/** What a worker says of itself when it wants to join. */
export type Registration = z.infer<typeof registrationSchema>;

const admissionSchema = z.discriminatedUnion('accepted', [
  z.object({
    accepted: z.literal(true),
    headId: z.string(),
    replicaId: z.number(),
    heartbeatMs: z.number(),
    /** The head's clock. */
    nowMs: z.number(),
  }),
  z.object({ accepted: z.literal(false), reason: z.string() }),
]);

/** What the head answers. */
export type Admission = z.infer<typeof admissionSchema>;

const heartbeatSchema = z.object({
  workerId: z.string(),
  stats: vouched<EngineStats>('running', 'waiting', 'waitingForChunk'),
});

export type Heartbeat = z.infer<typeof heartbeatSchema>;

const pulseSchema = z.object({
  /** `false` = the head does not know the worker: it must join again. */
  known: z.boolean(),
  /** The head's clock. */
  nowMs: z.number(),
  load: z.number(),
});

export type Pulse = z.infer<typeof pulseSchema>;

function jsonCodec<Value>(schema: z.ZodType<Value>): {
  encode(value: Value): Uint8Array;
  decode(bytes: Uint8Array): Value;
} {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value), 'utf8'),
    decode: (bytes) => schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))),
  };
}

export const registrations = jsonCodec<Registration>(registrationSchema);
export const admissions = jsonCodec<Admission>(admissionSchema);
export const heartbeats = jsonCodec<Heartbeat>(heartbeatSchema);
export const pulses = jsonCodec<Pulse>(pulseSchema);
