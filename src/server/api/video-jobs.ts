import { randomBytes } from 'node:crypto';
import { nowMs } from '../../foundation/clock.ts';
import type { VideoJobRecord } from '../../protocol/videos.ts';
import type { VideoArtifact } from '../engine/stage-artifact.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { ApiContext } from './api-context.ts';
import { type CollectedRun, CollectingSink } from './collect-run.ts';
import { type StartedRun, submitRun } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import type { VideoPlan } from './video-plan.ts';

/** How long a finished job can be had, s. */
const keptS = 24 * 60 * 60;
/** Most jobs kept; the oldest finished ones go first. */
const mostJobs = 2000;

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}

/** A job and what came of it. */
type Job = {
  record: VideoJobRecord;
  run: StartedRun | null;
  video: VideoArtifact | null;
};

/** Which part of the list is wanted. */
export type ListQuery = {
  readonly limit: number;
  readonly after: string | null;
  readonly newestFirst: boolean;
};

/** The video jobs of a server, from their creation until they are deleted or expire. */
export class VideoJobs {
  readonly #context: ApiContext;
  /** In the order of their creation. */
  readonly #jobs = new Map<string, Job>();

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** @param failure what to fail the job with, once it would be complete; `null` = nothing */
  create(plan: VideoPlan, acceptedMs: number, failure: RequestError | null): VideoJobRecord {
    this.#makeRoom();
    const id = `video_gen_${randomBytes(16).toString('hex')}`;
    const createdS = nowS();
    const { widthPx, heightPx, fps } = plan.task;
    const job: Job = {
      record: {
        id,
        object: 'video',
        model: this.#context.servedModelName,
        prompt: plan.prompt,
        status: 'queued',
        progress: 0,
        size: widthPx === null || heightPx === null ? null : `${widthPx}x${heightPx}`,
        seconds: plan.seconds,
        quality: 'default',
        created_at: createdS,
        completed_at: null,
        expires_at: createdS + keptS,
        remixed_from_video_id: null,
        error: null,
        media_type: 'video/mp4',
        file_name: null,
        inference_time_s: null,
        stage_durations: {},
        peak_memory_mb: 0,
        fps,
      },
      run: null,
      video: null,
    };
    this.#jobs.set(id, job);
    const sink = (run: () => PipelineRun): CollectingSink =>
      new CollectingSink(
        run,
        { onProgress: ({ percent }) => this.#progress(job, percent) },
        (collected) =>
          failure === null ? this.#complete(job, plan, collected, acceptedMs) : this.#fail(job, failure),
        (error) => this.#fail(job, error),
      );
    job.run = submitRun(this.#context, { id, acceptedMs }, plan.run, sink);
    return job.record;
  }

  /** @throws RequestError 404 */
  record(id: string): VideoJobRecord {
    return this.#job(id).record;
  }

  /** @throws RequestError 404 for an unknown job, 409 for one that is not complete, 422 for one that failed */
  video(id: string): VideoArtifact {
    const { record, video } = this.#job(id);
    if (video !== null) return video;
    if (record.status === 'failed')
      throw new RequestError(422, `Video \`${id}\` failed: ${record.error?.message ?? 'no reason is known'}`);
    throw new RequestError(409, `Video \`${id}\` is not complete; its status is ${record.status}.`);
  }

  /** Stops the job and forgets it. @throws RequestError 404 */
  delete(id: string): void {
    const job = this.#job(id);
    this.#jobs.delete(id);
    job.run?.abort();
  }

  /** A part of the list, and whether more follows. @throws RequestError 404 where `after` names no job */
  list({ limit, after, newestFirst }: ListQuery): {
    readonly records: VideoJobRecord[];
    readonly hasMore: boolean;
  } {
    this.#dropExpired();
    const all = [...this.#jobs.values()].map(({ record }) => record);
    if (newestFirst) all.reverse();
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    if (after !== null && from === 0) throw new RequestError(404, `No video \`${after}\`.`, 'after');
    return { records: all.slice(from, from + limit), hasMore: all.length > from + limit };
  }

  #job(id: string): Job {
    this.#dropExpired();
    const job = this.#jobs.get(id);
    if (job === undefined) throw new RequestError(404, `No video \`${id}\`.`, 'video_id');
    return job;
  }

  #progress({ record }: Job, percent: number): void {
    record.status = 'in_progress';
    record.progress = Math.max(record.progress, percent);
  }

  #complete(job: Job, plan: VideoPlan, { artifact, run }: CollectedRun, acceptedMs: number): void {
    if (artifact?.kind !== 'video') {
      this.#fail(job, new RequestError(500, 'A video was asked for, but none was produced.'));
      return;
    }
    const { widthPx, heightPx, numFrames, fps } = artifact;
    job.run = null;
    job.video = artifact;
    Object.assign(job.record, {
      status: 'completed',
      progress: 100,
      size: `${widthPx}x${heightPx}`,
      completed_at: nowS(),
      file_name: `${job.record.id}.mp4`,
      inference_time_s: (nowMs() - acceptedMs) / 1000,
      stage_durations: run.stageDurations(),
      peak_memory_mb: run.peakMemoryMb() ?? 0,
      fps,
      num_frames: numFrames,
      duration_s: numFrames / fps,
      ...(plan.returnStageMetrics ? { metrics: { stage_metrics: run.allSnapshots() } } : {}),
    } satisfies Partial<VideoJobRecord>);
  }

  #fail(job: Job, { message, status }: RequestError): void {
    job.run = null;
    job.record.status = 'failed';
    job.record.completed_at = nowS();
    job.record.error = { code: String(status), message };
  }

  #dropExpired(): void {
    const now = nowS();
    for (const [id, { record, run }] of this.#jobs) {
      // Those behind it are younger.
      if ((record.expires_at ?? now + 1) > now) return;
      run?.abort();
      this.#jobs.delete(id);
    }
  }

  #makeRoom(): void {
    if (this.#jobs.size < mostJobs) return;
    for (const [id, { run }] of this.#jobs) {
      if (run !== null) continue;
      this.#jobs.delete(id);
      return;
    }
    throw new RequestError(429, `${mostJobs} video jobs are under way.`, null, { 'retry-after': '10' });
  }
}
