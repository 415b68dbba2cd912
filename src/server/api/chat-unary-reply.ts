import { randomBytes } from 'node:crypto';
import type { ChatResponse } from '../../protocol/chat-completions.ts';
import { encodeAudioText, joinAudio, shownRateHz } from './audio-encoding.ts';
import { chatImageFiles, imageContent } from './chat-images.ts';
import type { ChatPlan } from './chat-plan.ts';
import { type CollectedRun, collectRun } from './collect-run.ts';
import type { ImageFiles } from './image-files.ts';
import { imageMetrics, imagesOf } from './image-reply.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { finalMetrics } from './run-progress.ts';
import { newToolCallId, toolFinishReason } from './tool-call.ts';
import { sendJson } from './whole-reply.ts';

type Choice = ChatResponse['choices'][number];

const dayS = 24 * 60 * 60;

function textChoice(
  index: number,
  { text, finishReason, stopReason }: CollectedRun,
  { toolCall }: ChatPlan,
): Choice {
  if (toolCall !== null) {
    const call = { name: toolCall.name, arguments: text };
    return {
      index,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: newToolCallId(), type: 'function', function: call }],
      },
      logprobs: null,
      finish_reason: toolFinishReason(finishReason),
      stop_reason: null,
    };
  }
  return {
    index,
    message: { role: 'assistant', content: text },
    logprobs: null,
    finish_reason: finishReason,
    stop_reason: stopReason,
  };
}

async function audioChoice(
  index: number,
  { sounds }: CollectedRun,
  plan: ChatPlan,
  life: ReplyLife,
): Promise<Choice> {
  const sound = joinAudio(sounds);
  if (sound === null) throw new RequestError(500, 'Audio was asked for, but none was produced.');
  const sampleRateHz = shownRateHz(sound.sampleRateHz, life.fault);
  const audio = {
    id: `audio-${randomBytes(8).toString('hex')}`,
    data: await encodeAudioText({ ...sound, sampleRateHz }, plan.audioFormat),
    expires_at: life.accepted.createdS + dayS,
    transcript: '',
  };
  life.accepted.truth.note('audio', { samples: sound.samples });
  return {
    index,
    message: { role: 'assistant', content: null, audio },
    logprobs: null,
    finish_reason: 'stop',
    stop_reason: null,
  };
}

async function imageChoice(
  index: number,
  collected: CollectedRun,
  drawing: ImageFiles,
  life: ReplyLife,
): Promise<Choice> {
  const content = await imageContent(drawing, imagesOf(collected), collected.run);
  life.accepted.truth.note('image', { images: content.length });
  return {
    index,
    message: { role: 'assistant', content },
    logprobs: null,
    finish_reason: 'stop',
    stop_reason: null,
  };
}

/** A choice per modality, all with the index of their run. */
async function choicesOf(
  index: number,
  collected: CollectedRun,
  plan: ChatPlan,
  drawing: ImageFiles,
  life: ReplyLife,
): Promise<Choice[]> {
  const choices: Choice[] = [];
  if (plan.modalities.includes('text')) {
    if (collected.textTokens > 0) life.accepted.truth.note('text', { tokens: collected.textTokens });
    choices.push(textChoice(index, collected, plan));
  }
  if (plan.modalities.includes('audio')) choices.push(await audioChoice(index, collected, plan, life));
  if (plan.modalities.includes('image')) choices.push(await imageChoice(index, collected, drawing, life));
  return choices;
}

/** Waits for a chat's output and sends it whole. */
export async function sendWholeChat(identity: ReplyIdentity, plan: ChatPlan, life: ReplyLife): Promise<void> {
  const drawings = Array.from({ length: plan.choices }, () => chatImageFiles());
  const runs = await Promise.all(
    drawings.map((drawing) =>
      collectRun(life, plan.run, { onProgress: ({ planned }) => drawing.prepare(planned) }),
    ),
  );
  const [first] = runs;
  if (first === undefined) throw new Error('A chat without a choice');
  const choices: Choice[] = [];
  for (const [index, collected] of runs.entries()) {
    const drawing = drawings[index] ?? chatImageFiles();
    choices.push(...(await choicesOf(index, collected, plan, drawing, life)));
  }
  const completionTokens = runs.reduce((sum, { run }) => sum + run.completionTokens(), 0);
  const { promptTokens, returnStageMetrics } = plan;
  const { id, createdS, model } = identity;
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
    ...(returnStageMetrics ? { metrics: metricsOf(first, plan) } : {}),
  };
  sendJson(life, JSON.stringify(body));
}

function metricsOf(collected: CollectedRun, { promptTokens, modalities }: ChatPlan): ChatResponse['metrics'] {
  const { lastStage, run } = collected;
  return {
    ...finalMetrics(lastStage, run.allSnapshots(), run, promptTokens),
    ...(modalities.includes('image') ? imageMetrics(collected) : {}),
  };
}
