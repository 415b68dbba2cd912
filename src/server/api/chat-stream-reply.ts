import type { StageFailure, StageOutput, StageProgress } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { ReplySink } from '../pipeline/pipeline-runtime.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';
import { encodeSharedAudio, encodeSharedCompressed, shownRateHz } from './audio-encoding.ts';
import { chatImageFiles, imageContent } from './chat-images.ts';
import type { ChatPlan } from './chat-plan.ts';
import { EventStream } from './event-stream.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { finalMetrics, outputMetrics } from './run-progress.ts';
import { newToolCallId, type ToolCall, toolFinishReason } from './tool-call.ts';

/** Streams a chat reply. Chunks are put together from texts made once per request: no object is serialised. */
export class ChatStreamReply {
  readonly plan: ChatPlan;
  readonly life: ReplyLife;
  readonly stream: EventStream;
  /** From the event's start to the list of choices. */
  readonly head: string;
  readonly #runs: (() => PipelineRun)[] = [];
  #choicesLeft: number;
  #failed = false;

  constructor(identity: ReplyIdentity, plan: ChatPlan, life: ReplyLife) {
    this.plan = plan;
    this.life = life;
    this.stream = new EventStream(life);
    this.#choicesLeft = plan.choices;
    const { id, createdS, model } = identity;
    this.head =
      `{"id":${asciiJson(id)},"object":"chat.completion.chunk","created":${createdS},` +
      `"model":${asciiJson(model)},"choices":[`;
  }

  /** Where the outputs of a choice's run go. */
  choice(index: number, run: () => PipelineRun): ReplySink {
    this.#runs.push(run);
    return new ChoiceStream(this, index, run);
  }

  usage(completionTokens: number): string {
    const { promptTokens } = this.plan;
    return (
      `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + completionTokens},` +
      `"completion_tokens":${completionTokens}}`
    );
  }

  /** Text of the choices so far. */
  completionTokens(): number {
    return this.#runs.reduce((sum, run) => sum + run().completionTokens(), 0);
  }

  /** A choice is complete; with the last of them the reply is. */
  choiceEnded(lastStage: StageDefinition, run: PipelineRun): void {
    this.#choicesLeft -= 1;
    if (this.#choicesLeft > 0 || this.#failed) return;
    if (this.plan.includeUsage) {
      const metrics = this.plan.returnStageMetrics
        ? `,"metrics":${asciiJson(finalMetrics(lastStage, run.allSnapshots(), run, this.plan.promptTokens))}`
        : '';
      this.stream.send('usage', `${this.head}],"usage":${this.usage(this.completionTokens())}${metrics}}`);
    }
    this.stream.end();
  }

  /** One choice failed, and with it the reply. */
  failed({ message, status }: StageFailure): void {
    if (this.#failed) return;
    this.#failed = true;
    this.life.abort();
    this.stream.send('error', asciiJson(new RequestError(status, message).body()));
    this.stream.end();
  }
}

/** The same ASCII text in one piece: V8 keeps joined texts as trees, and walks them again at every use. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Streams one choice. */
class ChoiceStream implements ReplySink {
  readonly #reply: ChatStreamReply;
  readonly #run: () => PipelineRun;
  /** As that of the reply, with the choice begun. */
  readonly #head: string;
  readonly #audioUsage: string;
  /** What stands around the text of a chunk that brings nothing else. */
  readonly #plainText: { readonly head: string; readonly tail: string };
  readonly #drawing = chatImageFiles();
  #roleSent = false;
  #finishSent = false;
  #callNamed = false;
  /** What is being encoded, with everything that must wait for it; `null` = nothing is. */
  #encoding: Promise<void> | null = null;

  constructor(reply: ChatStreamReply, index: number, run: () => PipelineRun) {
    this.#reply = reply;
    this.#run = run;
    this.#head = `${reply.head}{"index":${index},`;
    this.#audioUsage = `"usage":${reply.usage(0)},`;
    const metrics = reply.plan.returnStageMetrics ? ',"metrics":{}' : '';
    this.#plainText = {
      head: flat(`data: ${this.#head}"delta":{"content":"`),
      tail: flat(`"},"logprobs":null,"finish_reason":null}],"modality":"text"${metrics}}\n\n`),
    };
  }

  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    const run = this.#run();
    if (stage.finalOutputType === 'text') this.#sendText(stage, output, requestFinished, run);
    else if (stage.finalOutputType === 'image') this.#sendImages(stage, output, requestFinished, run);
    else this.#sendAudio(stage, output, requestFinished, run);
    if (requestFinished) this.#after(() => this.#finish(stage, run));
  }

  onProgress(_stage: StageDefinition, { planned }: StageProgress): void {
    this.#drawing.prepare(planned);
  }

  onFailure(failure: StageFailure): void {
    this.#reply.failed(failure);
  }

  /** Does it now, or when what is being encoded has been sent. */
  #after(work: () => void | Promise<void>): void {
    if (this.#encoding === null) {
      const pending = work();
      if (pending === undefined) return;
      this.#encoding = pending;
    } else this.#encoding = this.#encoding.then(work);
    this.#encoding.catch((error: unknown) => {
      console.error(error);
      this.#reply.failed({ message: 'The output could not be encoded.', status: 500 });
    });
  }

  #sendText(stage: StageDefinition, output: StageOutput, requestFinished: boolean, run: PipelineRun): void {
    const { plan, stream } = this.#reply;
    if (!this.#roleSent) this.#sendRole();
    if (plan.toolCall !== null) {
      this.#sendCall(plan.toolCall, stage, output, run);
      return;
    }
    if (output.finishReason === null && !plan.continuousUsage) {
      const { head, tail } = this.#plainText;
      stream.sendFramed('text', head, asciiJsonText(output.text ?? ''), tail, { tokens: output.units });
      return;
    }
    const usage = plan.continuousUsage ? `"usage":${this.#reply.usage(run.completionTokens())},` : '';
    const end = output.finishReason === null ? '' : `,"stop_reason":${asciiJson(output.stopReason)}`;
    const payload =
      `${this.#head}"delta":{"content":"${asciiJsonText(output.text ?? '')}"},"logprobs":null,` +
      `"finish_reason":${this.#finishReason(output, requestFinished)}${end}}],${usage}"modality":"text"` +
      `${this.#metrics(stage, output, requestFinished, run)}}`;
    stream.send('text', payload, { tokens: output.units });
  }

  /** The text is the arguments of a call, of which the first chunk names the function. */
  #sendCall(call: ToolCall, stage: StageDefinition, output: StageOutput, run: PipelineRun): void {
    const { plan, stream } = this.#reply;
    const name = this.#callNamed ? '' : `"id":"${newToolCallId()}","type":"function",`;
    const shownName = this.#callNamed ? '' : `"name":${asciiJson(call.name)},`;
    this.#callNamed = true;
    const usage = plan.continuousUsage ? `"usage":${this.#reply.usage(run.completionTokens())},` : '';
    const reason = toolFinishReason(output.finishReason);
    if (reason !== null) this.#finishSent = true;
    const payload =
      `${this.#head}"delta":{"tool_calls":[{"index":0,${name}"function":{${shownName}` +
      `"arguments":"${asciiJsonText(output.text ?? '')}"}}]},"logprobs":null,` +
      `"finish_reason":${asciiJson(reason)}}],${usage}"modality":"text"` +
      `${this.#metrics(stage, output, reason !== null, run)}}`;
    stream.send('text', payload, { tokens: output.units });
  }

  #sendRole(): void {
    this.#roleSent = true;
    const { plan, stream } = this.#reply;
    const usage = plan.continuousUsage ? `"usage":${this.#reply.usage(0)},` : '';
    stream.send(
      'role',
      `${this.#head}"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],` +
        `${usage}"modality":"text"}`,
    );
  }

  #sendAudio(stage: StageDefinition, output: StageOutput, requestFinished: boolean, run: PipelineRun): void {
    const { plan, stream, life } = this.#reply;
    const { audio } = output;
    const samples = audio?.samples ?? 0;
    const format = plan.audioFormat;
    const reason = this.#finishReason(output, requestFinished);
    const metrics = this.#metrics(stage, output, requestFinished, run);
    const rateHz = audio === null ? 0 : shownRateHz(audio.sampleRateHz, life.fault);
    const facts =
      audio === null
        ? ''
        : `,"audio_metadata":{"format":"${format}","sample_rate_hz":${rateHz},"frame_count":${samples},"channels":1}`;
    const start = `${this.#head}"delta":{"role":"assistant","content":"`;
    const rest =
      `"},"logprobs":null,"finish_reason":${reason}${facts}}],${this.#audioUsage}` +
      `"modality":"audio"${metrics}}`;
    const send = (content: string): void => stream.send('audio', `${start}${content}${rest}`, { samples });
    if (audio === null || samples === 0) this.#after(() => send(''));
    else if (life.fault?.kind === 'wrong-rate') {
      const wrong = { ...audio, pcm: Buffer.from(audio.pcm), sampleRateHz: rateHz };
      this.#after(() => encodeSharedCompressed(wrong, format).then(send));
    } else if (format === 'wav' || format === 'pcm')
      stream.sendShared('audio', start, encodeSharedAudio(audio, format), rest, { samples });
    else this.#after(() => encodeSharedCompressed(audio, format).then(send));
  }

  #sendImages(stage: StageDefinition, output: StageOutput, requestFinished: boolean, run: PipelineRun): void {
    const { artifact } = output;
    if (artifact?.kind !== 'images') return;
    const reason = this.#finishReason(output, requestFinished);
    const metrics = this.#metrics(stage, output, requestFinished, run);
    this.#after(async () => {
      const content = await imageContent(this.#drawing, artifact, run);
      const payload =
        `${this.#head}"delta":{"role":"assistant","content":${asciiJson(content)}},"logprobs":null,` +
        `"finish_reason":${reason}}],"modality":"image"${metrics}}`;
      this.#reply.stream.send('image', payload, { images: content.length });
    });
  }

  /** One chunk of a choice carries the reason, the last one of the modality that ends last. */
  #finishReason(output: StageOutput, requestFinished: boolean): string {
    if (!requestFinished || output.finishReason === null) return 'null';
    this.#finishSent = true;
    return `"${output.finishReason}"`;
  }

  #finish(lastStage: StageDefinition, run: PipelineRun): void {
    const { stream } = this.#reply;
    if (!this.#finishSent) stream.send('finish', `${this.#head}"delta":{},"finish_reason":"stop"}]}`);
    this.#reply.choiceEnded(lastStage, run);
  }

  #metrics(stage: StageDefinition, output: StageOutput, requestFinished: boolean, run: PipelineRun): string {
    const { plan } = this.#reply;
    if (!plan.returnStageMetrics) return '';
    if (output.finishReason === null) return ',"metrics":{}';
    return `,"metrics":${asciiJson(outputMetrics(stage, requestFinished, run, plan.promptTokens))}`;
  }
}
