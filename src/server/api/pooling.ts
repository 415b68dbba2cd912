import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { planEmbedding } from './embedding-plan.ts';
import { encodeVector, vectorOf } from './embeddings.ts';
import { requireCapability } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { runAll } from './run-all.ts';
import { sendJson } from './whole-reply.ts';

/** `POST /pooling`: what the model's pooling stage gives, without another form. */
export function poolingRoute(app: FastifyInstance, context: ApiContext): void {
  for (const path of ['/pooling', '/v1/pooling'])
    app.post(path, async (request, reply) => {
      requireCapability(context, 'pooling');
      const plan = await planEmbedding(request.body, path, context);
      openReply(context, request, reply, plan.model, async (life) => {
        const runs = await runAll(life, plan.runs);
        const body = {
          id: `pool-${life.accepted.id}`,
          object: 'list',
          created: life.accepted.createdS,
          model: context.servedModelName,
          data: runs.map((run, index) => ({
            object: 'pooling',
            index,
            data: encodeVector(vectorOf(run), plan.asBase64),
          })),
          usage: { prompt_tokens: plan.promptTokens, total_tokens: plan.promptTokens, completion_tokens: 0 },
        };
        sendJson(life, JSON.stringify(body));
      });
    });
}
