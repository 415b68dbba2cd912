import type { FastifyInstance } from 'fastify';
import { expositionType } from '../metrics/prometheus.ts';
import type { ApiContext } from './api-context.ts';

/** `GET /metrics`, in the text format of Prometheus. */
export function metricsRoute(app: FastifyInstance, { metrics }: ApiContext): void {
  app.get('/metrics', (_request, reply) => reply.type(expositionType).send(metrics.render()));
}
