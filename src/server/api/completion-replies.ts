import type { CompletionResponse } from '../../protocol/completions.ts';
import type { StageFailure, StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-runtime.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';
import { collectRun } from './collect-run.ts';
import type { CompletionPlan } from './completion-plan.ts';
import { EventStream } from './event-stream.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { sendJson } from './whole-reply.ts';

/** Streams a completion, one event per token. */
export class CompletionStreamReply {
  readonly stream: EventStream;
  readonly #plan: CompletionPlan;
  readonly #life: ReplyLife;
  readonly #head: string;
  #tokens = 0;
  #choicesLeft: number;
  #failed = false;

  constructor(identity: ReplyIdentity, plan: CompletionPlan, life: ReplyLife) {
    this.#plan = plan;
    this.#life = life;
    this.stream = new EventStream(life);
    this.#choicesLeft = plan.runs.length;
    const { id, createdS, model } = identity;
    this.#head =
      `{"id":${asciiJson(id)},"object":"text_completion","created":${createdS},` +
      `"model":${asciiJson(model)},"choices":[`;
  }

  /** Where the outputs of a choice's run go. */
  choice(index: number): ReplySink {
    const head = `${this.#head}{"index":${index},`;
    return {
      onOutput: (_stage: StageDefinition, output: StageOutput, requestFinished: boolean) =>
        this.#send(head, output, requestFinished),
      onFailure: (failure: StageFailure) => this.#fail(failure),
    };
  }

  #send(head: string, output: StageOutput, requestFinished: boolean): void {
    this.#tokens += output.units;
    const usage = this.#plan.continuousUsage ? `,"usage":${this.#usage()}` : '';
    const reason = output.finishReason === null ? 'null' : `"${output.finishReason}"`;
    const payload =
      `${head}"text":"${asciiJsonText(output.text ?? '')}","logprobs":null,` +
      `"finish_reason":${reason},"stop_reason":${asciiJson(output.stopReason)}}]${usage}}`;
    this.stream.send('text', payload, { tokens: output.units });
    if (requestFinished) this.#choiceEnded();
  }

  #choiceEnded(): void {
    this.#choicesLeft -= 1;
    if (this.#choicesLeft > 0 || this.#failed) return;
    if (this.#plan.includeUsage) this.stream.send('usage', `${this.#head}],"usage":${this.#usage()}}`);
    this.stream.end();
  }

  #fail({ message, status }: StageFailure): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#life.abort();
    this.stream.send('error', asciiJson(new RequestError(status, message).body()));
    this.stream.end();
  }

  #usage(): string {
    const { promptTokens } = this.#plan;
    return (
      `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + this.#tokens},` +
      `"completion_tokens":${this.#tokens}}`
    );
  }
}

/** Waits for all choices and sends them whole. */
export async function sendWholeCompletion(
  identity: ReplyIdentity,
  plan: CompletionPlan,
  life: ReplyLife,
): Promise<void> {
  const collected = await Promise.all(plan.runs.map((run) => collectRun(life, run)));
  const tokens = collected.reduce((sum, { textTokens }) => sum + textTokens, 0);
  const { promptTokens } = plan;
  const { id, createdS, model } = identity;
  const body: CompletionResponse = {
    id,
    object: 'text_completion',
    created: createdS,
    model,
    choices: collected.map(({ text, finishReason, stopReason }, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: finishReason,
      stop_reason: stopReason,
    })),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens + tokens, completion_tokens: tokens },
  };
  life.accepted.truth.note('text', { tokens });
  sendJson(life, JSON.stringify(body));
}
