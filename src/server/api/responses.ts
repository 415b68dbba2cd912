import type { FastifyInstance } from 'fastify';
import type { StageFailure, StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-runtime.ts';
import type { ApiContext } from './api-context.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';
import { collectRun } from './collect-run.ts';
import { EventStream } from './event-stream.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import {
  outputText,
  type ResponseState,
  responseBody,
  responseMessage,
  responseStatus,
} from './response-body.ts';
import { planResponse, type ResponsesPlan } from './responses-plan.ts';
import { sendJson } from './whole-reply.ts';

/** Streams a response: named events, numbered, of which `response.completed` is the last. */
class ResponseStream implements ReplySink {
  readonly #identity: ReplyIdentity;
  readonly #plan: ResponsesPlan;
  readonly #life: ReplyLife;
  readonly #stream: EventStream;
  readonly #place: { readonly item_id: string; readonly output_index: 0; readonly content_index: 0 };
  #sequence = 0;
  #text = '';
  #tokens = 0;

  constructor(identity: ReplyIdentity, plan: ResponsesPlan, life: ReplyLife) {
    this.#identity = identity;
    this.#plan = plan;
    this.#life = life;
    this.#stream = new EventStream(life);
    this.#place = { item_id: identity.id.replace(/^resp_/, 'msg_'), output_index: 0, content_index: 0 };
  }

  open(): void {
    this.#stream.open();
    const response = this.#body(null);
    this.#mark('response.created', { response });
    this.#mark('response.in_progress', { response });
    const item = responseMessage(this.#identity, '', 'in_progress');
    this.#mark('response.output_item.added', { output_index: 0, item });
    this.#mark('response.content_part.added', { ...this.#place, part: outputText('') });
  }

  onOutput(_stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    const text = output.text ?? '';
    this.#text += text;
    this.#tokens += output.units;
    if (text !== '') this.#delta(text, output.units);
    if (requestFinished) this.#end(output);
  }

  onFailure({ message, status }: StageFailure): void {
    this.#life.abort();
    const error = { code: 'server_error', message };
    const response = { ...this.#body(null), status: 'failed', error };
    this.#send('error', 'response.failed', { response: { ...response, http_status: status } });
    this.#stream.close();
  }

  #end(output: StageOutput): void {
    const finishReason = output.finishReason ?? 'stop';
    const state = { text: this.#text, tokens: this.#tokens, finishReason };
    const status = responseStatus(state);
    this.#mark('response.output_text.done', { ...this.#place, text: this.#text, logprobs: [] });
    this.#mark('response.content_part.done', { ...this.#place, part: outputText(this.#text) });
    const item = responseMessage(this.#identity, this.#text, status);
    this.#mark('response.output_item.done', { output_index: 0, item });
    this.#send('usage', 'response.completed', { response: this.#body(finishReason) });
    this.#stream.close();
  }

  #body(finishReason: ResponseState['finishReason']): object {
    return responseBody(this.#identity, this.#plan, {
      text: this.#text,
      tokens: this.#tokens,
      finishReason,
    });
  }

  /** Put together from texts: no object is serialised per token. */
  #delta(text: string, tokens: number): void {
    const type = 'response.output_text.delta';
    const payload =
      `{"type":"${type}","sequence_number":${this.#sequence},"item_id":${asciiJson(this.#place.item_id)},` +
      `"output_index":0,"content_index":0,"delta":"${asciiJsonText(text)}","logprobs":[]}`;
    this.#sequence += 1;
    this.#stream.send('text', payload, { tokens }, type);
  }

  #mark(type: string, fields: object): void {
    this.#send('role', type, fields);
  }

  #send(event: 'role' | 'usage' | 'error', type: string, fields: object): void {
    const payload = asciiJson({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    this.#stream.send(event, payload, undefined, type);
  }
}

async function sendWhole(identity: ReplyIdentity, plan: ResponsesPlan, life: ReplyLife): Promise<void> {
  const { text, textTokens, finishReason } = await collectRun(life, plan.run);
  if (life.fault?.kind !== 'empty' && textTokens === 0)
    throw new RequestError(500, 'A text was asked for, but none was produced.');
  life.accepted.truth.note('text', { tokens: textTokens });
  const state = { text, tokens: textTokens, finishReason: finishReason ?? 'stop' };
  sendJson(life, JSON.stringify(responseBody(identity, plan, state)));
}

/** `POST /v1/responses`: the pipeline's text, as typed events or as one object. Nothing is stored. */
export function responsesRoute(app: FastifyInstance, context: ApiContext): void {
  app.post('/v1/responses', async (request, reply) => {
    requireCapability(context, 'chat');
    const plan = await planResponse(request.body, context);
    openReply(context, request, reply, plan.model, (life) => {
      const { id, createdS } = life.accepted;
      const identity = { id: `resp_${id}`, createdS, model: context.servedModelName };
      if (!plan.stream) return sendWhole(identity, plan, life);
      requireLiveStages(context, plan.run);
      const streamed = new ResponseStream(identity, plan, life);
      streamed.open();
      life.start(plan.run, () => streamed);
      return undefined;
    });
  });
}
