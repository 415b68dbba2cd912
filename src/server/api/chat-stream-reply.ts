import type { StageFailure, StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-run.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';
import { encodeSharedAudio } from './audio-encoding.ts';
import type { ChatPlan } from './chat-plan.ts';
import type { EventStream } from './event-stream.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import { RequestError } from './request-error.ts';
import { finalMetrics, outputMetrics, type RunProgress } from './run-progress.ts';

/** Streams a chat reply. Chunks are put together from texts made once per request: no object is serialised. */
export class ChatStreamReply implements ReplySink {
  readonly #plan: ChatPlan;
  readonly #stream: EventStream;
  readonly #run: () => RunProgress;
  readonly #onEnd: () => void;
  /** From the event's start to the list of choices. */
  readonly #head: string;
  readonly #audioUsage: string;
  #roleSent = false;
  #finishSent = false;

  /** @param run the run behind the reply, which exists by the time of its first output */
  constructor(
    identity: ReplyIdentity,
    plan: ChatPlan,
    stream: EventStream,
    run: () => RunProgress,
    onEnd: () => void,
  ) {
    this.#plan = plan;
    this.#stream = stream;
    this.#run = run;
    this.#onEnd = onEnd;
    const { id, createdS, model } = identity;
    this.#head =
      `{"id":${asciiJson(id)},"object":"chat.completion.chunk","created":${createdS},` +
      `"model":${asciiJson(model)},"choices":[`;
    this.#audioUsage = `"usage":${this.#usage(0)},`;
  }

  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    if (stage.finalOutputType === 'text') this.#sendText(stage, output, requestFinished);
    else this.#sendAudio(stage, output, requestFinished);
    if (requestFinished) this.#finish(stage);
  }

  onFailure({ message, status }: StageFailure): void {
    this.#stream.send('error', asciiJson(new RequestError(status, message).body()));
    this.#stream.end();
    this.#onEnd();
  }

  #sendText(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    if (!this.#roleSent) this.#sendRole();
    const usage = this.#plan.continuousUsage ? `"usage":${this.#usage(this.#run().completionTokens())},` : '';
    const end = output.finishReason === null ? '' : `,"stop_reason":${asciiJson(output.stopReason)}`;
    const payload =
      `${this.#head}{"index":0,"delta":{"content":"${asciiJsonText(output.text ?? '')}"},"logprobs":null,` +
      `"finish_reason":${this.#finishReason(output, requestFinished)}${end}}],${usage}"modality":"text"` +
      `${this.#metrics(stage, output, requestFinished)}}`;
    this.#stream.send('text', payload, { tokens: output.units });
  }

  #sendRole(): void {
    this.#roleSent = true;
    const usage = this.#plan.continuousUsage ? `"usage":${this.#usage(0)},` : '';
    this.#stream.send(
      'role',
      `${this.#head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],` +
        `${usage}"modality":"text"}`,
    );
  }

  #sendAudio(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    const { audio } = output;
    const samples = audio?.samples ?? 0;
    const format = this.#plan.audioFormat;
    const content = audio === null || samples === 0 ? '' : encodeSharedAudio(audio, format);
    const facts =
      audio === null
        ? ''
        : `,"audio_metadata":{"format":"${format}","sample_rate_hz":${audio.sampleRateHz},"frame_count":${samples},"channels":1}`;
    const payload =
      `${this.#head}{"index":0,"delta":{"role":"assistant","content":"${content}"},"logprobs":null,` +
      `"finish_reason":${this.#finishReason(output, requestFinished)}${facts}}],${this.#audioUsage}` +
      `"modality":"audio"${this.#metrics(stage, output, requestFinished)}}`;
    this.#stream.send('audio', payload, { samples });
  }

  /** One chunk of a reply carries the reason, the last one of the modality that ends last. */
  #finishReason(output: StageOutput, requestFinished: boolean): string {
    if (!requestFinished || output.finishReason === null) return 'null';
    this.#finishSent = true;
    return `"${output.finishReason}"`;
  }

  #finish(lastStage: StageDefinition): void {
    if (!this.#finishSent)
      this.#stream.send('finish', `${this.#head}{"index":0,"delta":{},"finish_reason":"stop"}]}`);
    if (this.#plan.includeUsage) {
      const run = this.#run();
      const metrics = this.#plan.returnStageMetrics
        ? `,"metrics":${asciiJson(finalMetrics(lastStage, run.allSnapshots(), run, this.#plan.promptTokens))}`
        : '';
      this.#stream.send('usage', `${this.#head}],"usage":${this.#usage(run.completionTokens())}${metrics}}`);
    }
    this.#stream.end();
    this.#onEnd();
  }

  #usage(completionTokens: number): string {
    const { promptTokens } = this.#plan;
    return (
      `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + completionTokens},` +
      `"completion_tokens":${completionTokens}}`
    );
  }

  #metrics(stage: StageDefinition, output: StageOutput, requestFinished: boolean): string {
    if (!this.#plan.returnStageMetrics) return '';
    if (output.finishReason === null) return ',"metrics":{}';
    const metrics = outputMetrics(stage, requestFinished, this.#run(), this.#plan.promptTokens);
    return `,"metrics":${asciiJson(metrics)}`;
  }
}
