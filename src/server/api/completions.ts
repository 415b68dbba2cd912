import type { FastifyInstance } from 'fastify';
import { acceptRequest } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { planCompletion } from './completion-plan.ts';
import { CompletionStreamReply, CompletionUnaryReply } from './completion-replies.ts';
import { EventStream } from './event-stream.ts';
import { RequestError } from './request-error.ts';
import { startRun } from './start-run.ts';

/** `POST /v1/completions`: the pipeline's text, whatever else it could say. */
export function completionsRoute(app: FastifyInstance, context: ApiContext): void {
  const textStage = context.pipeline.stages.find(({ finalOutputType }) => finalOutputType === 'text');
  app.post('/v1/completions', async (request, reply) => {
    if (textStage === undefined) throw new RequestError(503, 'This model has no text stage.');
    const plan = await planCompletion(request.body, context);
    const accepted = acceptRequest(context.truthLog, request, reply);
    reply.hijack();
    const identity = {
      id: `cmpl-${accepted.id}`,
      createdS: accepted.createdS,
      model: context.servedModelName,
    };
    const run = {
      promptTokens: plan.promptTokens,
      finalStageIds: [textStage.stageId],
      params: plan.params,
      initialChunkFrames: null,
      keepGaps: false,
    };
    if (!plan.stream) {
      startRun(
        context,
        accepted,
        run,
        (_progress, onEnd) => new CompletionUnaryReply(accepted, identity, plan, onEnd),
      );
      return;
    }
    const stream = new EventStream(accepted.response, accepted.truth);
    stream.open(accepted.id);
    startRun(
      context,
      accepted,
      run,
      (_progress, onEnd) => new CompletionStreamReply(identity, plan, stream, onEnd),
    );
  });
}
