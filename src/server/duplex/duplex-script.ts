import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { realtimeErrorCodes } from '../../protocol/realtime-events.ts';
import { calibrationNames } from './duplex-laws.ts';

const ms = z.number().min(0).max(86_400_000);
const seconds = z.number().min(0).max(3600);
const errorCode = z.enum([
  ...realtimeErrorCodes.server_error,
  ...realtimeErrorCodes.rate_limit_error,
  ...realtimeErrorCodes.invalid_request_error,
]);
const scriptedError = z.strictObject({ code: errorCode, message: z.string().optional() });

/** What is wrong with the events of one response. */
export const responseFaults = [
  'no_response_id',
  'wrong_format',
  'no_format',
  'wrong_rate',
  'no_rate',
  'bad_base64',
  'empty_audio',
  'odd_bytes',
  'no_audio_payload',
  'no_created',
  'created_without_id',
  'duplicate_created',
  'no_done',
  'done_without_id',
  'duplicate_done',
  'foreign_done',
] as const;
export type ResponseFault = (typeof responseFaults)[number];

const responseSchema = z.strictObject({
  /** The unit that closes at or after this much input begins it; absent = the next commit does. */
  at_ms: ms.optional(),
  /** Between the decision and `response.created`. */
  delay_ms: ms.default(0),
  text: z.string().max(100_000).optional(),
  audio_s: seconds.optional(),
  /** Sound in one delta. */
  delta_ms: z.number().min(10).max(60_000).default(1000),
  ttft_ms: ms.optional(),
  rtf: z.number().min(0).max(100).optional(),
  tpot_ms: z.number().min(0).max(60_000).optional(),
  /** Default: cancelled where `stop_after_s` is set, else completed. */
  status: z.enum(['completed', 'cancelled', 'failed']).optional(),
  /** Of a response that is not completed. */
  reason: z.string().optional(),
  /** It ends after so much sound, whatever more was planned. */
  stop_after_s: seconds.optional(),
  /** After so much sound the output buffer is cleared; the deltas go on. */
  clear_after_s: seconds.optional(),
  /** `false` = no `response.speak`. */
  speak: z.boolean().default(true),
  /** It is created and then ends by a decision to listen. */
  listen: z.boolean().default(false),
  function_call: z.strictObject({ name: z.string(), arguments: z.string().default('{}') }).optional(),
  fault: z.enum(responseFaults).optional(),
});
export type ScriptedResponse = z.infer<typeof responseSchema>;

const actionSchema = z.strictObject({
  /** The append that brings this much input sets it off; absent = the first commit does. */
  at_ms: ms.optional(),
  /** After that. */
  delay_ms: ms.default(0),
  error: scriptedError.optional(),
  expire: z.enum(['idle_ttl_expired', 'disconnect_grace_expired']).optional(),
  close: z.string().optional(),
  drop_socket: z.boolean().optional(),
  barge_in: z.boolean().optional(),
  clear_output: z.boolean().optional(),
  /** Sent as it stands. */
  event: z.looseObject({ type: z.string() }).optional(),
});
export type ScriptedAction = z.infer<typeof actionSchema>;

const sessionSchema = z.strictObject({
  /** A session asks for it by `extra_body.duplex_script`; those with a name are given to no other. */
  name: z.string().optional(),
  responses: z.array(responseSchema).max(10_000).optional(),
  /** Nothing is said whatever comes. */
  listen_only: z.boolean().default(false),
  /** Transcripts of the user's items, in order. */
  transcripts: z.array(z.string()).default([]),
  actions: z.array(actionSchema).max(1000).default([]),
  /** The first `session.update` is answered with this error and no session. */
  refuse: scriptedError.optional(),
  /** The first `session.update` is not answered. */
  silent: z.boolean().default(false),
  /** Laid over the session's own. */
  capabilities: z.record(z.string(), z.unknown()).default({}),
  /** Acks from this one on, from 1, are refused. */
  refuse_acks: z.strictObject({ from: z.number().int().min(1).default(1), code: errorCode }).optional(),
  /** `false` = no event tells that a commit was taken. */
  committed: z.boolean().default(true),
  /** `false` = nothing is decided after a commit. */
  decision: z.boolean().default(true),
  /** How a decision to listen is marked. */
  listen_mark: z.enum(['model_listen', 'buffering', 'none']).default('model_listen'),
  /** `false` = the server keeps its own first-output times to itself. */
  request_metrics: z.boolean().default(true),
  /** What `session.closed` says after the client's close; `null` = it is not answered. */
  close_reason: z.string().nullable().default('client_close'),
});
export type SessionScript = z.infer<typeof sessionSchema>;

const scriptSchema = z.strictObject({
  calibration: z.enum(calibrationNames).default('omniinteract'),
  /** `beta` = `response.audio.delta` and `response.audio_transcript.delta`. */
  event_names: z.enum(['current', 'beta']).default('current'),
  /** In the order in which sessions open; after the last, the first again. */
  sessions: z.array(sessionSchema).default([]),
});

/** What a duplex model says when, and what goes wrong on purpose. */
export type DuplexScript = z.infer<typeof scriptSchema>;

/** The script of a server that has none. */
export const noDuplexScript: DuplexScript = scriptSchema.parse({});

/** A session without a script. */
export const plainSession: SessionScript = sessionSchema.parse({});

/**
 * @param source for messages
 * @throws InputFileError naming the place that does not fit
 */
export function parseDuplexScript(value: unknown, source: string): DuplexScript {
  const result = scriptSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new InputFileError(
    `${source}: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'invalid'}. docs/duplex-server.md lists the keys.`,
  );
}

/**
 * Reads `--duplex-script`: YAML, of which JSON is a part.
 * @throws InputFileError
 */
export function readDuplexScript(path: string): DuplexScript {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InputFileError(`--duplex-script ${path} cannot be read as YAML or JSON: ${messageOf(error)}.`);
  }
  return parseDuplexScript(value ?? {}, `--duplex-script ${path}`);
}

/** Gives each session that opens its script. */
export class ScriptDealer {
  readonly #inOrder: readonly SessionScript[];
  readonly #byName: ReadonlyMap<string, SessionScript>;
  #dealt = 0;

  constructor({ sessions }: DuplexScript) {
    this.#inOrder = sessions.filter(({ name }) => name === undefined);
    this.#byName = new Map(
      sessions.flatMap((session) => (session.name === undefined ? [] : [[session.name, session]])),
    );
  }

  /** @param name as the session asks for; `null` = it does not. Of an unknown name, `null`. */
  next(name: string | null): SessionScript | null {
    if (name !== null) return this.#byName.get(name) ?? null;
    const script = this.#inOrder[this.#dealt % Math.max(1, this.#inOrder.length)];
    this.#dealt += 1;
    return script ?? plainSession;
  }
}
