import type { CompletionResponse } from '../../protocol/completions.ts';
import type { StageFailure, StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-run.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';
import type { CompletionPlan } from './completion-plan.ts';
import type { EventStream } from './event-stream.ts';
import { sendError, sendJson } from './json-reply.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import { RequestError } from './request-error.ts';

/** Streams a completion, one event per token. */
export class CompletionStreamReply implements ReplySink {
  readonly #plan: CompletionPlan;
  readonly #stream: EventStream;
  readonly #onEnd: () => void;
  readonly #head: string;
  #tokens = 0;

  constructor(identity: ReplyIdentity, plan: CompletionPlan, stream: EventStream, onEnd: () => void) {
    this.#plan = plan;
    this.#stream = stream;
    this.#onEnd = onEnd;
    const { id, createdS, model } = identity;
    this.#head =
      `{"id":${asciiJson(id)},"object":"text_completion","created":${createdS},` +
      `"model":${asciiJson(model)},"choices":[`;
  }

  onOutput(_stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    this.#tokens += output.units;
    const usage = this.#plan.continuousUsage ? `,"usage":${this.#usage()}` : '';
    const reason = output.finishReason === null ? 'null' : `"${output.finishReason}"`;
    const payload =
      `${this.#head}{"index":0,"text":"${asciiJsonText(output.text ?? '')}","logprobs":null,` +
      `"finish_reason":${reason},"stop_reason":${asciiJson(output.stopReason)}}]${usage}}`;
    this.#stream.send('text', payload, { tokens: output.units });
    if (!requestFinished) return;
    if (this.#plan.includeUsage) this.#stream.send('usage', `${this.#head}],"usage":${this.#usage()}}`);
    this.#stream.end();
    this.#onEnd();
  }

  onFailure({ message, status }: StageFailure): void {
    this.#stream.send('error', asciiJson(new RequestError(status, message).body()));
    this.#stream.end();
    this.#onEnd();
  }

  #usage(): string {
    const { promptTokens } = this.#plan;
    return (
      `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + this.#tokens},` +
      `"completion_tokens":${this.#tokens}}`
    );
  }
}

/** Collects a completion and sends it whole. */
export class CompletionUnaryReply implements ReplySink {
  readonly #accepted: AcceptedRequest;
  readonly #identity: ReplyIdentity;
  readonly #plan: CompletionPlan;
  readonly #onEnd: () => void;
  #text = '';
  #tokens = 0;

  constructor(accepted: AcceptedRequest, identity: ReplyIdentity, plan: CompletionPlan, onEnd: () => void) {
    this.#accepted = accepted;
    this.#identity = identity;
    this.#plan = plan;
    this.#onEnd = onEnd;
  }

  onOutput(_stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    this.#text += output.text ?? '';
    this.#tokens += output.units;
    if (!requestFinished) return;
    const { promptTokens } = this.#plan;
    const { id, createdS, model } = this.#identity;
    const body: CompletionResponse = {
      id,
      object: 'text_completion',
      created: createdS,
      model,
      choices: [
        {
          index: 0,
          text: this.#text,
          logprobs: null,
          finish_reason: output.finishReason,
          stop_reason: output.stopReason,
        },
      ],
      usage: {
        prompt_tokens: promptTokens,
        total_tokens: promptTokens + this.#tokens,
        completion_tokens: this.#tokens,
      },
    };
    this.#accepted.truth.note('text', { tokens: this.#tokens });
    sendJson(this.#accepted, 200, JSON.stringify(body));
    this.#onEnd();
  }

  onFailure({ message, status }: StageFailure): void {
    sendError(this.#accepted, new RequestError(status, message));
    this.#onEnd();
  }
}
