import type { FastifyInstance } from 'fastify';
import { imageGenerationRequestSchema } from '../../protocol/images.ts';
import type { ApiContext } from './api-context.ts';
import { collectRun } from './collect-run.ts';
import { ImageFiles } from './image-files.ts';
import { planImages } from './image-plan.ts';
import { imagesOf, sendImages } from './image-reply.ts';
import { requireCapability } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { parseBody } from './request-body.ts';

const path = '/v1/images/generations';

/** `POST /v1/images/generations` */
export function imageGenerationsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'images');
    const body = parseBody(imageGenerationRequestSchema, request.body);
    const route = { path, responseFormats: ['b64_json', 'file'], references: [], defaultSize: null };
    const plan = await planImages(body, route, context);
    openReply(context, request, reply, plan.model, async (life) => {
      const drawing = new ImageFiles(plan);
      const collected = await collectRun(life, plan.run, {
        onProgress: ({ planned }) => drawing.prepare(planned),
      });
      sendImages(life, plan, collected, await drawing.files(imagesOf(collected)));
    });
  });
}
