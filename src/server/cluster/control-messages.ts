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
export const protocolVersion = 2;

/** Where processes of a deployment reach each other. */
export const subjects = {
  /** All heads answer who they are. */
  servers: (): string => 'omnimeter.servers',
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

/** Where messages stand in what one side tells the other. */
const place = {
  /** Chosen by the worker whenever it asks to join; what belongs to another is out of date. */
  session: z.string(),
  /** Counts from 1 in a session and a direction. */
  batch: z.number().int().min(1),
};
const toWorkerBatch = z.object({
  ...place,
  /** Requests under way in the whole pipeline. */
  load: z.number(),
  messages: z.array(toWorkerSchema),
});
const toHeadBatch = z.object({ ...place, messages: z.array(toHeadSchema) });

type Batch<Parsed, Message> = Omit<Parsed, 'messages'> & { readonly messages: readonly Message[] };
type ToWorkerBatch = Batch<z.infer<typeof toWorkerBatch>, ToWorker>;
type ToHeadBatch = Batch<z.infer<typeof toHeadBatch>, ToHead>;

export function encodeToWorker(batch: ToWorkerBatch): Uint8Array {
  return encodeMessage(batch);
}

/** @throws Error for bytes that are no such message */
export function decodeToWorker(bytes: Uint8Array): ToWorkerBatch {
  return toWorkerBatch.parse(decodeMessage(bytes));
}

export function encodeToHead(batch: ToHeadBatch): Uint8Array {
  return encodeMessage(batch);
}

/** @throws Error for bytes that are no such message */
export function decodeToHead(bytes: Uint8Array): ToHeadBatch {
  return toHeadBatch.parse(decodeMessage(bytes));
}

/** What must be equal in all processes of a deployment, for a stage to keep its laws. */
export type DeploymentFacts = {
  readonly protocol: number;
  readonly pipeline: string;
  /** Last segment of the model's name: hosts may keep it in different folders. */
  readonly model: string;
  readonly timeScale: number;
  readonly seed: number;
  readonly asyncChunk: boolean;
};

const registrationSchema = z.object({
  facts: z.object({
    protocol: z.number(),
    pipeline: z.string(),
    model: z.string(),
    timeScale: z.number(),
    seed: z.number(),
    asyncChunk: z.boolean(),
  }),
  workerId: z.string().regex(/^[\w-]+$/),
  session: z.string(),
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
  session: z.string(),
  /** That the worker has sent in the session. */
  batches: z.number(),
  stats: vouched<EngineStats>('running', 'waiting', 'waitingForChunk'),
});

export type Heartbeat = z.infer<typeof heartbeatSchema>;

const pulseSchema = z.object({
  /** `false` = the head does not know the worker: it must join again. */
  known: z.boolean(),
  /** The head's clock. */
  nowMs: z.number(),
  load: z.number(),
  /** That the head has sent in the session. */
  batches: z.number(),
});

export type Pulse = z.infer<typeof pulseSchema>;

/** The part of a registration that every version can read. */
const versionSchema = z.object({ facts: z.object({ protocol: z.number() }) });

/** @returns the version that a worker speaks, `null` where it does not say */
export function protocolOf(registration: Uint8Array): number | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(registration).toString('utf8'));
    return versionSchema.parse(parsed).facts.protocol;
  } catch {
    return null;
  }
}

const presenceSchema = z.object({ pipeline: z.string(), model: z.string() });

/** What a head says to who looks for one. */
export type Presence = z.infer<typeof presenceSchema>;

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
export const presences = jsonCodec<Presence>(presenceSchema);
export const admissions = jsonCodec<Admission>(admissionSchema);
export const heartbeats = jsonCodec<Heartbeat>(heartbeatSchema);
export const pulses = jsonCodec<Pulse>(pulseSchema);
