import type { FastifyInstance } from 'fastify';
import { type ImageEditRequest, imageEditRequestSchema } from '../../protocol/images.ts';
import type { MediaReference } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import { collectRun } from './collect-run.ts';
import { type FormBody, readForm } from './form-body.ts';
import { ImageEditStream } from './image-edit-stream.ts';
import { ImageFiles } from './image-files.ts';
import { planImages, writesBeforeDrawing } from './image-plan.ts';
import { imagesOf, sendImages } from './image-reply.ts';
import { imageReference, referenceFromUrl } from './media-reference.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';

const path = '/v1/images/edits';
/** Fields whose files are pictures that the edit starts from, and those that only guide it. */
const sourceFields = ['image'];
const guideFields = ['mask', 'mask_image', 'reference_image'];

/** The pictures of an edit, those to be edited first. @throws RequestError 400 */
async function referencesOf(
  { files }: FormBody,
  { url }: ImageEditRequest,
  context: ApiContext,
): Promise<MediaReference[]> {
  const unknown = files.find(({ field }) => ![...sourceFields, ...guideFields, 'url'].includes(field));
  if (unknown !== undefined)
    throw new RequestError(
      400,
      `There is no file field "${unknown.field}"; images come as "image".`,
      unknown.field,
    );
  const urls = typeof url === 'string' ? [url] : (url ?? []);
  const sources = files.filter(({ field }) => sourceFields.includes(field));
  if (sources.length + urls.length === 0)
    throw new RequestError(400, "Field 'image' or 'url' is required", 'image');
  const most = context.pipeline.limitMmPerPrompt.image;
  if (most !== null && sources.length + urls.length > most)
    throw new RequestError(
      400,
      `At most ${most} image(s) may be provided in one prompt, got ${sources.length + urls.length}.`,
      'image',
    );
  const references: MediaReference[] = [];
  for (const { bytes } of sources) references.push(await imageReference(bytes, 'image', context));
  for (const source of urls) references.push(await referenceFromUrl('image', source, 'url', context));
  for (const { bytes, field } of files.filter((file) => guideFields.includes(file.field)))
    references.push(await imageReference(bytes, field, context));
  return references;
}

/** `POST /v1/images/edits` */
export function imageEditsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'edits');
    const form = await readForm(request, context.limits);
    const body = parseBody(imageEditRequestSchema, form.fields);
    if (body.stream === true && !writesBeforeDrawing(context))
      throw new RequestError(
        400,
        'stream is not supported: the pipeline has a single stage, whose image comes whole.',
        'stream',
      );
    const references = await referencesOf(form, body, context);
    const [first] = references;
    const defaultSize =
      first === undefined || first.widthPx === null || first.heightPx === null
        ? null
        : { widthPx: first.widthPx, heightPx: first.heightPx };
    const route = { path, responseFormats: ['b64_json'], references, defaultSize };
    const plan = await planImages(body, route, context);
    openReply(context, request, reply, plan.model, async (life) => {
      const drawing = new ImageFiles(plan);
      const stream = body.stream === true ? new ImageEditStream(life, plan, context) : null;
      requireLiveStages(context, plan.run);
      stream?.open();
      try {
        const collected = await collectRun(life, plan.run, {
          onProgress: ({ planned }) => drawing.prepare(planned),
          onOutput: (stage, output, run) => stream?.text(stage, output, run),
        });
        const files = await drawing.files(imagesOf(collected));
        if (stream === null) sendImages(life, plan, collected, files);
        else stream.images(collected, files);
      } catch (error) {
        if (stream === null || !(error instanceof RequestError)) throw error;
        stream.fail(error);
      }
    });
  });
}
