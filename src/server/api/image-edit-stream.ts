import type { StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { ApiContext } from './api-context.ts';
import { asciiJson } from './ascii-json.ts';
import type { CollectedRun } from './collect-run.ts';
import { EventStream } from './event-stream.ts';
import type { ImagePlan } from './image-plan.ts';
import { imageMetrics, imagesBody } from './image-reply.ts';
import type { ReplyLife } from './reply-life.ts';
import type { RequestError } from './request-error.ts';
import { outputMetrics } from './run-progress.ts';

/** Streams an edit: the text that the model writes first, then the images. */
export class ImageEditStream {
  readonly #life: ReplyLife;
  readonly #plan: ImagePlan;
  readonly #stream: EventStream;
  readonly #identity: { readonly created: number; readonly model: string };

  constructor(life: ReplyLife, plan: ImagePlan, { servedModelName }: ApiContext) {
    this.#life = life;
    this.#plan = plan;
    this.#stream = new EventStream(life);
    this.#identity = { created: life.accepted.createdS, model: servedModelName };
  }

  open(): void {
    this.#stream.open();
  }

  /** Sends on what a text stage wrote. */
  text(stage: StageDefinition, output: StageOutput, run: PipelineRun): void {
    if (output.text === null || (output.text === '' && output.finishReason === null)) return;
    const metrics =
      output.finishReason === null ? {} : outputMetrics(stage, false, run, this.#plan.run.promptTokens);
    this.#stream.send(
      'text',
      asciiJson({
        object: 'image.edit.chunk',
        type: 'ar_delta',
        delta: output.text,
        index: 0,
        ...this.#identity,
        ...(this.#plan.returnStageMetrics ? { metrics } : {}),
      }),
      { tokens: output.units },
    );
  }

  images(collected: CollectedRun, files: readonly Buffer[]): void {
    const { data, output_format, size } = imagesBody(this.#plan, collected, files, this.#identity.created);
    this.#stream.send(
      'image',
      asciiJson({
        object: 'image.edit.chunk',
        type: 'image',
        data,
        output_format,
        size,
        ...this.#identity,
        ...(this.#plan.returnStageMetrics ? { metrics: imageMetrics(collected) } : {}),
      }),
      { images: files.length },
    );
    this.#stream.end();
  }

  fail(error: RequestError): void {
    this.#life.abort();
    const { message, status } = error;
    this.#stream.send(
      'error',
      asciiJson({
        object: 'error',
        ...this.#identity,
        error: { message, type: 'server_error', param: null, code: status },
      }),
    );
    this.#stream.end();
  }
}
