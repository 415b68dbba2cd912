import { randomBytes } from 'node:crypto';
import type { ChatResponse } from '../../protocol/chat-completions.ts';
import type { FinishReason } from '../../protocol/sampling.ts';
import type { PcmAudio, StageFailure, StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ReplySink } from '../pipeline/pipeline-run.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import { encodeAudio, joinAudio } from './audio-encoding.ts';
import type { ChatPlan } from './chat-plan.ts';
import { sendError, sendJson } from './json-reply.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import { RequestError } from './request-error.ts';
import { finalMetrics, type RunProgress } from './run-progress.ts';

type Choice = ChatResponse['choices'][number];

const dayS = 24 * 60 * 60;

/** Collects a chat reply and sends it whole: one choice per modality. */
export class ChatUnaryReply implements ReplySink {
  readonly #accepted: AcceptedRequest;
  readonly #identity: ReplyIdentity;
  readonly #plan: ChatPlan;
  readonly #run: () => RunProgress;
  readonly #onEnd: () => void;
  readonly #sounds: PcmAudio[] = [];
  #text = '';
  #textTokens = 0;
  #textEnd: StageOutput | null = null;
  #audioEnd: FinishReason | null = null;

  constructor(
    accepted: AcceptedRequest,
    identity: ReplyIdentity,
    plan: ChatPlan,
    run: () => RunProgress,
    onEnd: () => void,
  ) {
    this.#accepted = accepted;
    this.#identity = identity;
    this.#plan = plan;
    this.#run = run;
    this.#onEnd = onEnd;
  }

  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void {
    if (stage.finalOutputType === 'text') {
      this.#text += output.text ?? '';
      this.#textTokens += output.units;
      if (output.finishReason !== null) this.#textEnd = output;
    } else {
      if (output.audio !== null && output.audio.samples > 0) this.#sounds.push(output.audio);
      this.#audioEnd = output.finishReason;
    }
    if (requestFinished) this.#send(stage);
  }

  onFailure({ message, status }: StageFailure): void {
    sendError(this.#accepted, new RequestError(status, message));
    this.#onEnd();
  }

  #send(lastStage: StageDefinition): void {
    const run = this.#run();
    const { promptTokens, returnStageMetrics } = this.#plan;
    const completionTokens = run.completionTokens();
    const choices: Choice[] = [];
    if (this.#plan.modalities.includes('text')) choices.push(this.#textChoice());
    if (this.#plan.modalities.includes('audio')) {
      const choice = this.#audioChoice();
      if (choice === null) {
        this.onFailure({ message: 'Audio was asked for, but none was produced.', status: 500 });
        return;
      }
      choices.push(choice);
    }
    const { id, createdS, model } = this.#identity;
    const body: ChatResponse = {
      id,
      object: 'chat.completion',
      created: createdS,
      model,
      choices,
      usage: {
        prompt_tokens: promptTokens,
        total_tokens: promptTokens + completionTokens,
        completion_tokens: completionTokens,
      },
      ...(returnStageMetrics
        ? { metrics: finalMetrics(lastStage, run.allSnapshots(), run, promptTokens) }
        : {}),
    };
    if (this.#textTokens > 0) this.#accepted.truth.note('text', { tokens: this.#textTokens });
    const samples = this.#sounds.reduce((sum, sound) => sum + sound.samples, 0);
    if (samples > 0) this.#accepted.truth.note('audio', { samples });
    sendJson(this.#accepted, 200, JSON.stringify(body));
    this.#onEnd();
  }

  #textChoice(): Choice {
    return {
      index: 0,
      message: { role: 'assistant', content: this.#text },
      logprobs: null,
      finish_reason: this.#textEnd?.finishReason ?? null,
      stop_reason: this.#textEnd?.stopReason ?? null,
    };
  }

  #audioChoice(): Choice | null {
    const sound = joinAudio(this.#sounds);
    if (sound === null) return null;
    const audio = {
      id: `audio-${randomBytes(8).toString('hex')}`,
      data: encodeAudio(sound, this.#plan.audioFormat),
      expires_at: this.#identity.createdS + dayS,
      transcript: '',
    };
    return {
      index: 0,
      message: { role: 'assistant', content: null, audio },
      logprobs: null,
      finish_reason: this.#audioEnd,
      stop_reason: null,
    };
  }
}
