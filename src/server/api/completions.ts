import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { planCompletion } from './completion-plan.ts';
import { CompletionStreamReply, sendWholeCompletion } from './completion-replies.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';

/** `POST /v1/completions`: the pipeline's text, whatever else it could say. */
export function completionsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post('/v1/completions', async (request, reply) => {
    requireCapability(context, 'completions');
    const plan = await planCompletion(request.body, context);
    openReply(context, request, reply, plan.model, (life) => {
      const { id, createdS } = life.accepted;
      const identity = { id: `cmpl-${id}`, createdS, model: context.servedModelName };
      if (!plan.stream) return sendWholeCompletion(identity, plan, life);
      for (const run of plan.runs) requireLiveStages(context, run);
      const streamed = new CompletionStreamReply(identity, plan, life);
      streamed.stream.open();
      for (const [index, run] of plan.runs.entries()) life.start(run, () => streamed.choice(index));
      return undefined;
    });
  });
}
