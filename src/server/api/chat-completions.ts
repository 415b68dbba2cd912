import type { FastifyInstance } from 'fastify';
import { DuplexError } from '../duplex/duplex-error.ts';
import type { ApiContext } from './api-context.ts';
import { planChat } from './chat-plan.ts';
import { ChatStreamReply } from './chat-stream-reply.ts';
import { sendWholeChat } from './chat-unary-reply.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';

/**
 * On a deployment in full duplex, a chat takes a place of a conversation until its reply is over.
 * @throws RequestError 503 where all are taken
 */
function takePlace({ duplex, metrics }: ApiContext, life: ReplyLife): void {
  if (duplex === null) return;
  try {
    life.whenOver(duplex.admitChat());
  } catch (error) {
    if (!(error instanceof DuplexError)) throw error;
    metrics.refused();
    throw new RequestError(
      503,
      `${error.message}. Conversations and chats share the places of this deployment: ask again when one has ended, ` +
        'raise duplex_session.max_sessions in --deploy-config, or serve the model in turns (session_mode: turn).',
    );
  }
}

/** `POST /v1/chat/completions` */
export function chatCompletionsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post('/v1/chat/completions', async (request, reply) => {
    requireCapability(context, 'chat');
    const plan = await planChat(request.body, context);
    openReply(context, request, reply, plan.model, (life) => {
      takePlace(context, life);
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
