import type { FastifyInstance } from 'fastify';
import { acceptRequest } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { planChat } from './chat-plan.ts';
import { ChatStreamReply } from './chat-stream-reply.ts';
import { ChatUnaryReply } from './chat-unary-reply.ts';
import { EventStream } from './event-stream.ts';
import { startRun } from './start-run.ts';

/** `POST /v1/chat/completions` */
export function chatCompletionsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post('/v1/chat/completions', async (request, reply) => {
    const plan = await planChat(request.body, context);
    const accepted = acceptRequest(context.truthLog, request, reply);
    reply.hijack();
    const identity = {
      id: `chatcmpl-${accepted.id}`,
      createdS: accepted.createdS,
      model: context.servedModelName,
    };
    const wanted = context.pipeline.stages.filter(
      ({ finalOutputType }) => finalOutputType !== null && plan.modalities.includes(finalOutputType),
    );
    const run = {
      promptTokens: plan.promptTokens,
      finalStageIds: wanted.map(({ stageId }) => stageId),
      params: plan.params,
      initialChunkFrames: plan.initialChunkFrames,
      keepGaps: plan.returnStageMetrics,
    };
    if (!plan.stream) {
      startRun(
        context,
        accepted,
        run,
        (progress, onEnd) => new ChatUnaryReply(accepted, identity, plan, progress, onEnd),
      );
      return;
    }
    const stream = new EventStream(accepted.response, accepted.truth);
    stream.open(accepted.id);
    startRun(
      context,
      accepted,
      run,
      (progress, onEnd) => new ChatStreamReply(identity, plan, stream, progress, onEnd),
    );
  });
}
