import type { FastifyInstance, FastifyRequest } from 'fastify';
import { nowMs } from '../../foundation/clock.ts';
import { type VideoList, videoRequestSchema } from '../../protocol/videos.ts';
import type { ApiContext } from './api-context.ts';
import { collectRun } from './collect-run.ts';
import { readForm } from './form-body.ts';
import { requireCapability } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { paced } from './reply-life.ts';
import { parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { videoFile } from './video-file.ts';
import { type ListQuery, VideoJobs } from './video-jobs.ts';
import { planVideo, type VideoPlan } from './video-plan.ts';
import { sendBytes, sendJson } from './whole-reply.ts';

const path = '/v1/videos';
const defaultLimit = 20;
const mostLimit = 100;

type VideoId = { Params: { id: string } };

function listQuery(query: unknown): ListQuery {
  const given: Readonly<Record<string, unknown>> =
    typeof query === 'object' && query !== null ? { ...query } : {};
  const limit = given.limit === undefined ? defaultLimit : Number(given.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostLimit)
    throw new RequestError(400, `limit must be a whole number from 1 to ${mostLimit}.`, 'limit');
  const order = given.order ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw new RequestError(400, 'order must be asc or desc.', 'order');
  const after = typeof given.after === 'string' && given.after !== '' ? given.after : null;
  return { limit, after, newestFirst: order === 'desc' };
}

/** `/v1/videos`: jobs that are created, asked for, fetched, listed and deleted; `/v1/videos/sync` waits for its own. */
export function videosRoutes(app: FastifyInstance, context: ApiContext): void {
  const jobs = new VideoJobs(context);
  const plan = async (request: FastifyRequest, route: string): Promise<VideoPlan> => {
    requireCapability(context, 'videos');
    const form = await readForm(request, context.limits);
    return planVideo(form, parseBody(videoRequestSchema, form.fields), route, context);
  };

  app.post(path, async (request, reply) => {
    const planned = await plan(request, path);
    openReply(context, request, reply, planned.model, (life) => {
      const failure =
        life.fault?.kind === 'error-event'
          ? new RequestError(500, 'The job failed, as the fault script says.')
          : null;
      const job = { ...planned, run: paced(planned.run, life.fault) };
      if (failure !== null) life.spendFault();
      sendJson(life, JSON.stringify(jobs.create(job, life.accepted.acceptedMs, failure)));
    });
  });

  app.post(`${path}/sync`, async (request, reply) => {
    const planned = await plan(request, `${path}/sync`);
    openReply(context, request, reply, planned.model, async (life) => {
      const { artifact, run } = await collectRun(life, planned.run);
      if (artifact?.kind !== 'video')
        throw new RequestError(500, 'A video was asked for, but none was produced.');
      const file = await videoFile(artifact);
      life.accepted.truth.note('video', { frames: artifact.numFrames });
      sendBytes(life, file, {
        'content-type': 'video/mp4',
        'x-model': context.servedModelName,
        'x-inference-time-s': String((nowMs() - life.accepted.acceptedMs) / 1000),
        'x-stage-durations': JSON.stringify(run.stageDurations()),
        'x-peak-memory-mb': String(run.peakMemoryMb() ?? 0),
      });
    });
  });

  app.get(path, (request): VideoList => {
    const { records, hasMore } = jobs.list(listQuery(request.query));
    return {
      object: 'list',
      data: records,
      first_id: records[0]?.id ?? null,
      last_id: records.at(-1)?.id ?? null,
      has_more: hasMore,
    };
  });

  app.get<VideoId>(`${path}/:id`, (request) => jobs.record(request.params.id));

  app.get<VideoId>(`${path}/:id/content`, async (request, reply) => {
    const { id } = request.params;
    const file = await videoFile(jobs.video(id));
    return reply
      .type('video/mp4')
      .header('content-disposition', `attachment; filename="${id}.mp4"`)
      .send(file);
  });

  app.delete<VideoId>(`${path}/:id`, (request) => {
    jobs.delete(request.params.id);
    return { id: request.params.id, deleted: true, object: 'video.deleted' };
  });
}
