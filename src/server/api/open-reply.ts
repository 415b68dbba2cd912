import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../foundation/errors.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import { acceptRequest } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { ClientGoneError } from './client-gone-error.ts';
import { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { sendError } from './whole-reply.ts';

/** Kills a replica, and starts it again where the fault says so. */
function killReplica(
  { orchestrator }: ApiContext,
  { stageId, backAfterMs }: Extract<RequestFault, { kind: 'dead-replica' }>,
): void {
  const replicaId = orchestrator.killReplica(stageId);
  if (replicaId === null || backAfterMs === null) return;
  // A server that closes does not wait for it.
  setTimeout(() => orchestrator.restoreReplica(stageId, replicaId), backAfterMs).unref();
}

/**
 * Takes a reply into the route's own hands, once its request has been understood, and does the work. What the work
 * throws becomes the reply as long as none has begun.
 * @param model as the request names it; picks the faults that befall the reply
 */
export function openReply(
  context: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string | null,
  work: (life: ReplyLife) => void | Promise<void>,
): void {
  const accepted = acceptRequest(context.truthLog, request, reply);
  const fault = context.faults.next(model);
  reply.hijack();
  const life = new ReplyLife(context, accepted, fault);
  if (fault === null) void attempt(life, work);
  else void attempt(life, (opened) => workWithFault(context, opened, work));
}

async function attempt(life: ReplyLife, work: (life: ReplyLife) => void | Promise<void>): Promise<void> {
  try {
    await work(life);
  } catch (error) {
    if (error instanceof ClientGoneError || life.gone) return;
    life.abort();
    const known = error instanceof RequestError;
    // A failure that nobody foresaw is a bug, and its stack belongs in the log.
    if (!known) console.error(error);
    if (life.response.headersSent) {
      life.end();
      life.response.destroy();
    } else sendError(life, known ? error : new RequestError(500, `Internal error: ${messageOf(error)}`));
  }
}

async function workWithFault(
  context: ApiContext,
  life: ReplyLife,
  work: (life: ReplyLife) => void | Promise<void>,
): Promise<void> {
  const { fault } = life;
  if (fault?.kind === 'status') {
    const headers = fault.retryAfterS === null ? {} : { 'retry-after': String(fault.retryAfterS) };
    throw new RequestError(fault.status, 'The request is refused, as the fault script says.', null, headers);
  }
  if (fault?.kind === 'slow-headers') await sleep(fault.ms, undefined, { ref: false });
  if (fault?.kind === 'dead-replica') killReplica(context, fault);
  if (!life.gone) await work(life);
}
