import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';

/** `GET /health`: 200 while every stage can take requests, else 503; no body. */
export function healthRoute(app: FastifyInstance, { orchestrator }: ApiContext): void {
  app.get('/health', (_request, reply) => reply.code(orchestrator.isAlive() ? 200 : 503).send());
}
