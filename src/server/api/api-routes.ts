import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { chatCompletionsRoute } from './chat-completions.ts';
import { completionsRoute } from './completions.ts';
import { embeddingsRoute } from './embeddings.ts';
import { healthRoute } from './health.ts';
import { imageEditsRoute } from './image-edits.ts';
import { imageGenerationsRoute } from './image-generations.ts';
import { metricsRoute } from './metrics.ts';
import { modelsRoute } from './models.ts';
import { poolingRoute } from './pooling.ts';
import { realtimeRoute } from './realtime.ts';
import { rerankRoutes } from './rerank.ts';
import { responsesRoute } from './responses.ts';
import { speechRoute } from './speech.ts';
import { speechSocketRoute } from './speech-socket.ts';
import { transcriptionRoutes } from './transcriptions.ts';
import { videosRoutes } from './videos.ts';
import { VoiceStore } from './voice-store.ts';
import { voicesRoutes } from './voices.ts';

/** Every route of the server. */
export function apiRoutes(app: FastifyInstance, context: ApiContext): void {
  const voices = new VoiceStore(context.pipeline.voices);
  chatCompletionsRoute(app, context);
  completionsRoute(app, context);
  responsesRoute(app, context);
  speechRoute(app, context, voices);
  speechSocketRoute(app, context, voices);
  voicesRoutes(app, context, voices);
  imageGenerationsRoute(app, context);
  imageEditsRoute(app, context);
  videosRoutes(app, context);
  embeddingsRoute(app, context);
  poolingRoute(app, context);
  rerankRoutes(app, context);
  transcriptionRoutes(app, context);
  realtimeRoute(app, context);
  modelsRoute(app, context);
  metricsRoute(app, context);
  healthRoute(app, context);
}
