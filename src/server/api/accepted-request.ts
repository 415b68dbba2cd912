import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nowMs } from '../../foundation/clock.ts';
import type { TruthEntry, TruthLog } from '../truth-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request's headers had been read, ms on the process's clock: zero of all serving times. */
    acceptedMs: number;
  }
}

/** A request for generated output, from the moment at which it was accepted. */
export type AcceptedRequest = {
  /** The caller's id where it gave one, else the server's. */
  readonly id: string;
  readonly acceptedMs: number;
  /** Unix seconds. */
  readonly createdS: number;
  readonly truth: TruthEntry;
  readonly response: ServerResponse;
};

/** The caller's `x-request-id`, or `null`. */
export function callersId(request: FastifyRequest): string | null {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && header !== '' ? header : null;
}

/** Opens the request's lines in the truth log. */
export function acceptRequest(
  truthLog: TruthLog,
  request: FastifyRequest,
  reply: FastifyReply,
): AcceptedRequest {
  const id = callersId(request) ?? request.id;
  const truth = truthLog.entry(id);
  truth.note('accepted', { atMs: request.acceptedMs });
  return {
    id,
    acceptedMs: request.acceptedMs,
    createdS: Math.floor(Date.now() / 1000),
    truth,
    response: reply.raw,
  };
}

/** Stamps a request as accepted. */
export function stampAccepted(request: FastifyRequest): void {
  request.acceptedMs = nowMs();
}
