import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { planChat } from './chat-plan.ts';
import { ChatStreamReply } from './chat-stream-reply.ts';
import { sendWholeChat } from './chat-unary-reply.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';

/** `POST /v1/chat/completions` */
export function chatCompletionsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post('/v1/chat/completions', async (request, reply) => {
    requireCapability(context, 'chat');
    const plan = await planChat(request.body, context);
    openReply(context, request, reply, plan.model, (life) => {
      const { id, createdS } = life.accepted;
      const identity = { id: `chatcmpl-${id}`, createdS, model: context.servedModelName };
      if (!plan.stream) return sendWholeChat(identity, plan, life);
      requireLiveStages(context, plan.run);
      const streamed = new ChatStreamReply(identity, plan, life);
      streamed.stream.open();
      for (let index = 0; index < plan.choices; index += 1)
        life.start(plan.run, (run) => streamed.choice(index, run));
      return undefined;
    });
  });
}
