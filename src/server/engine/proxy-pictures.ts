import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../foundation/errors.ts';
import { probeClip } from '../../media/probe-clip.ts';
import { probeImage } from '../../media/probe-image.ts';
import type { DiffusionDefaults } from './diffusion-plan.ts';
import { jsonBody, type RemoteCall, wholeBody } from './proxy-call.ts';
import { ProxyError } from './proxy-error.ts';
import type { DiffusionFacts, ImagesArtifact, VideoArtifact } from './stage-artifact.ts';
import type { StageProgress } from './stage-engine.ts';
import type { ImageTask, VideoTask } from './stage-task.ts';

/** Largest reply that is read, and picture that is taken. */
const mostBytes = 1024 * 1024 * 1024;
const mostPixels = 16384 * 16384;

/** What this server does with the reply is its own affair, and references go as files. */
const ownFields = [
  ...['url', 'image', 'mask', 'mask_image', 'reference_image', 'response_format', 'stream'],
  ...['image_reference', 'video_reference', 'audio_reference', 'input_reference', 'input_references'],
  ...['num_frames', 'fps', 'seconds', 'return_stage_metrics'],
];

/** The task's own fields by their names in the API, without those that it leaves open. */
function fieldsOf(task: ImageTask | VideoTask, model: string): Record<string, unknown> {
  const { widthPx, heightPx } = task;
  const extra = Object.entries(task.extra).filter(([name]) => !ownFields.includes(name));
  const fields = {
    ...Object.fromEntries(extra),
    model,
    prompt: task.prompt,
    negative_prompt: task.negativePrompt,
    size: widthPx === null || heightPx === null ? null : `${widthPx}x${heightPx}`,
    num_inference_steps: task.numInferenceSteps,
    guidance_scale: task.guidanceScale,
    true_cfg_scale: task.trueCfgScale,
    seed: task.seed,
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

function formOf(
  fields: Readonly<Record<string, unknown>>,
  task: ImageTask | VideoTask,
  fileField: string,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  for (const [index, { kind, bytes }] of task.references.entries()) {
    if (bytes === null)
      throw new ProxyError(500, 'A reference was not kept, so that it cannot be handed on.');
    const type = { image: 'image/png', video: 'video/mp4', audio: 'audio/wav' }[kind];
    form.append(
      fileField,
      new Blob([new Uint8Array(bytes)], { type }),
      `reference-${index}.${type.slice(6)}`,
    );
  }
  return form;
}

function factsOf(
  task: ImageTask | VideoTask,
  defaults: DiffusionDefaults,
  said: { readonly forwardMs: number; readonly peakMemoryMb: number },
  durations: Readonly<Record<string, number>>,
): DiffusionFacts {
  return {
    ...said,
    numInferenceSteps: task.numInferenceSteps ?? defaults.numInferenceSteps,
    queueWaitMs: durations.queue_wait_ms ?? 0,
    // Keys in ms are the remote pipeline's own; the profiler's are in seconds.
    profileS: Object.fromEntries(Object.entries(durations).filter(([name]) => !name.endsWith('_ms'))),
  };
}

const imagesSchema = z.looseObject({
  data: z.array(z.looseObject({ b64_json: z.string().nullish() })),
  metrics: z.looseObject({ peak_memory_mb: z.number().nullish() }).nullish(),
});

/**
 * Has a remote server draw the images of a task: its edits route where there are pictures to start from.
 * @throws ProxyError for what is no image, or another kind than was asked for
 */
export async function remoteImages(
  task: ImageTask,
  model: string,
  defaults: DiffusionDefaults,
  call: RemoteCall,
  nowMs: () => number,
): Promise<ImagesArtifact> {
  const startMs = nowMs();
  const fields = { ...fieldsOf(task, model), n: task.count, response_format: 'b64_json' };
  const edits = task.references.length > 0;
  const reply = edits
    ? await call('/v1/images/edits', { form: formOf(fields, task, 'image') })
    : await call('/v1/images/generations', { json: fields });
  const result = imagesSchema.safeParse(await jsonBody(reply, mostBytes));
  if (!result.success || result.data.data.length === 0)
    throw new ProxyError(502, 'The remote server answered without images.');
  const { data, metrics } = result.data;
  const wanted = String(task.extra.output_format ?? 'png').replace(/^jpg$/, 'jpeg');
  const seed = task.seed ?? 0;
  const images = await Promise.all(
    data.map(async ({ b64_json: base64 }, index) => {
      if (base64 === null || base64 === undefined)
        throw new ProxyError(502, 'The remote server sent no b64_json, which was asked for.');
      const bytes = Buffer.from(base64, 'base64');
      const { format, widthPx, heightPx } = await probeImage(bytes, mostPixels).catch((error: unknown) => {
        throw new ProxyError(502, `The remote server sent what is no image: ${messageOf(error)}.`);
      });
      if (format !== wanted)
        throw new ProxyError(502, `The remote server sent ${format} where ${wanted} was asked for.`);
      return { widthPx, heightPx, seed: seed + index, encoded: { bytes, mimeType: `image/${format}` } };
    }),
  );
  const said = { forwardMs: nowMs() - startMs, peakMemoryMb: metrics?.peak_memory_mb ?? 0 };
  return { kind: 'images', images, facts: factsOf(task, defaults, said, {}) };
}

const jobSchema = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  progress: z.number().nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
  inference_time_s: z.number().nullish(),
  stage_durations: z.record(z.string(), z.number()).nullish(),
  peak_memory_mb: z.number().nullish(),
  fps: z.number().nullish(),
  num_frames: z.number().nullish(),
});
type Job = z.infer<typeof jobSchema>;

async function jobOf(reply: Awaited<ReturnType<RemoteCall>>): Promise<Job> {
  const result = jobSchema.safeParse(await jsonBody(reply, mostBytes));
  if (!result.success) throw new ProxyError(502, 'The remote server answered with what is no video job.');
  return result.data;
}

/**
 * Has a remote server make the video of a task: creates the job, asks for it until it is over, and fetches its file.
 * @param tell of the job's progress
 * @param onCreated gets what deletes the job, for a request that is given up
 * @throws ProxyError for a job that failed, and what is no video
 */
export async function remoteVideo(
  task: VideoTask,
  model: string,
  defaults: DiffusionDefaults,
  remote: {
    readonly call: RemoteCall;
    readonly nowMs: () => number;
    readonly pollMs: number;
    readonly signal: AbortSignal;
    readonly tell: (progress: StageProgress) => void;
    readonly onCreated: (path: string) => void;
  },
): Promise<VideoArtifact> {
  const { call, nowMs, pollMs, signal, tell, onCreated } = remote;
  const startMs = nowMs();
  const fields = {
    ...fieldsOf(task, model),
    ...(task.numFrames === null ? {} : { num_frames: task.numFrames }),
    ...(task.fps === null ? {} : { fps: task.fps }),
  };
  let job = await jobOf(await call('/v1/videos', { form: formOf(fields, task, 'input_references') }));
  const path = `/v1/videos/${encodeURIComponent(job.id)}`;
  onCreated(path);
  while (job.status !== 'completed') {
    if (job.status === 'failed')
      throw new ProxyError(502, `The remote video job failed: ${job.error?.message ?? 'it says no reason'}`);
    if (job.status !== 'queued')
      tell({ state: 'in_progress', percent: Math.min(99, Math.max(0, job.progress ?? 0)), planned: null });
    await sleep(pollMs, undefined, { signal });
    job = await jobOf(await call(path, { method: 'GET' }));
  }
  const bytes = await wholeBody(await call(`${path}/content`, { method: 'GET' }), mostBytes);
  const { video, durationS } = await probeClip(bytes).catch((error: unknown) => {
    throw new ProxyError(502, `The remote server sent what is no video: ${messageOf(error)}.`);
  });
  if (video === null) throw new ProxyError(502, 'The remote server sent a video without a picture.');
  const fps = job.fps ?? task.fps ?? defaults.fps;
  const saidMs = (job.inference_time_s ?? 0) * 1000;
  const forwardMs = saidMs > 0 ? saidMs : nowMs() - startMs;
  const said = { forwardMs, peakMemoryMb: job.peak_memory_mb ?? 0 };
  return {
    kind: 'video',
    ...video,
    numFrames: job.num_frames ?? Math.round(durationS * fps),
    fps,
    seed: task.seed ?? 0,
    audio: null,
    encoded: { bytes, mimeType: 'video/mp4' },
    facts: factsOf(task, defaults, said, job.stage_durations ?? {}),
  };
}
