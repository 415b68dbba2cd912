import type { FastifyInstance } from 'fastify';
import {
  type TranscriptionFormat,
  type TranscriptionRequest,
  transcriptionRequestSchema,
} from '../../protocol/transcriptions.ts';
import type { ApiContext } from './api-context.ts';
import { asciiJson } from './ascii-json.ts';
import { collectRun } from './collect-run.ts';
import { EventStream } from './event-stream.ts';
import { readForm } from './form-body.ts';
import { clipReference } from './media-reference.ts';
import { requireCapability, stageIdsGiving } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { ReplyLife, RunRequest } from './reply-life.ts';
import { checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';
import { segmentsOf, subRip, timedWords, webVtt } from './transcription-text.ts';
import { sendBytes, sendJson } from './whole-reply.ts';

type Task = 'transcribe' | 'translate';

type TranscriptionPlan = {
  readonly task: Task;
  readonly request: TranscriptionRequest;
  readonly format: TranscriptionFormat;
  readonly audioS: number;
  readonly run: RunRequest;
};

const languageOfTranslations = 'english';

function granularitiesOf({ timestamp_granularities: given }: TranscriptionRequest): readonly string[] {
  return typeof given === 'string' ? [given] : (given ?? []);
}

async function planTranscription(
  fields: Readonly<Record<string, unknown>>,
  audio: Buffer,
  task: Task,
  path: string,
  context: ApiContext,
): Promise<TranscriptionPlan> {
  const request = parseBody(transcriptionRequestSchema, fields);
  checkModel(request.model, context);
  const format = request.response_format ?? 'json';
  if (request.stream === true && format !== 'json')
    throw new RequestError(400, 'Only response_format json can be streamed.', 'response_format');
  const reference = await clipReference('audio', audio, 'file', context);
  const audioS = reference.durationS ?? 0;
  if (audioS <= 0) throw new RequestError(400, 'file: it has no length.', 'file');
  const promptTokens = await countPromptTokens(request.prompt ?? '', context.countTokens);
  return {
    task,
    request,
    format,
    audioS,
    run: {
      promptTokens: promptTokens + (context.pipeline.mediaPartTokens ?? 0),
      finalStageIds: stageIdsGiving(context, 'text'),
      params: paramsOfStages(context.pipeline, { temperature: request.temperature }, null),
      initialChunkFrames: null,
      keepGaps: false,
      task: { kind: 'transcribe', audioS, translate: task === 'translate' },
      source: { route: path, body: request },
    },
  };
}

/** What a minute of audio is billed as: whole seconds. */
function durationUsage(audioS: number): { readonly type: 'duration'; readonly seconds: number } {
  return { type: 'duration', seconds: Math.ceil(audioS) };
}

function sendText(life: ReplyLife, text: string, mimeType: string): void {
  sendBytes(life, Buffer.from(text, 'utf8'), { 'content-type': `${mimeType}; charset=utf-8` });
}

/** Sends a transcription in the form that was asked for. */
function sendTranscription(life: ReplyLife, plan: TranscriptionPlan, spoken: string): void {
  const { audioS, request, format, task } = plan;
  const text = spoken.trim();
  switch (format) {
    case 'json':
      sendJson(life, JSON.stringify({ text, usage: durationUsage(audioS) }));
      return;
    case 'text':
      sendText(life, `${text}\n`, 'text/plain');
      return;
    case 'srt':
      sendText(life, subRip(segmentsOf(text, audioS)), 'text/plain');
      return;
    case 'vtt':
      sendText(life, webVtt(segmentsOf(text, audioS)), 'text/vtt');
      return;
    case 'verbose_json': {
      const withWords = granularitiesOf(request).includes('word');
      const body = {
        task,
        language: task === 'translate' ? languageOfTranslations : (request.language ?? 'en'),
        duration: audioS,
        text,
        segments: segmentsOf(text, audioS),
        ...(withWords ? { words: timedWords(text, audioS) } : {}),
        usage: durationUsage(audioS),
      };
      sendJson(life, JSON.stringify(body));
    }
  }
}

/** Chunks of a streamed transcription, as the speech-to-text servers of this family send them. */
async function streamTranscription(life: ReplyLife, plan: TranscriptionPlan, model: string): Promise<void> {
  const stream = new EventStream(life);
  const { id, createdS } = life.accepted;
  const head = { id: `trsc-${id}`, object: 'transcription.chunk', created: createdS, model };
  stream.open();
  try {
    const { run, text: spoken } = await collectRun(life, plan.run, {
      onOutput: (_stage, { text, units, finishReason }) => {
        const choice = {
          index: 0,
          delta: { content: text ?? '' },
          finish_reason: finishReason,
          stop_reason: null,
        };
        // A chunk of OpenAI's own form beside it, for its clients.
        const facts = { ...head, choices: [choice], type: 'transcript.text.delta', delta: text ?? '' };
        stream.send('text', asciiJson(facts), { tokens: units });
      },
    });
    const tokens = run.completionTokens();
    const usage = {
      prompt_tokens: plan.run.promptTokens,
      completion_tokens: tokens,
      total_tokens: plan.run.promptTokens + tokens,
    };
    const end = { ...head, choices: [], type: 'transcript.text.done', text: spoken.trim() };
    stream.send('usage', asciiJson(plan.request.stream_include_usage === true ? { ...end, usage } : end));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    stream.send('error', asciiJson(error.body()));
  }
  stream.end();
}

function route(app: FastifyInstance, context: ApiContext, path: string, task: Task): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'transcriptions');
    const { fields, files } = await readForm(request, context.limits);
    const file = files.find(({ field }) => field === 'file');
    if (file === undefined) throw new RequestError(400, "Field 'file' is required", 'file');
    const plan = await planTranscription(fields, file.bytes, task, path, context);
    openReply(context, request, reply, plan.request.model ?? null, async (life) => {
      if (plan.request.stream === true) return streamTranscription(life, plan, context.servedModelName);
      const { text, textTokens } = await collectRun(life, plan.run);
      life.accepted.truth.note('text', { tokens: textTokens });
      sendTranscription(life, plan, text);
    });
  });
}

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations` */
export function transcriptionRoutes(app: FastifyInstance, context: ApiContext): void {
  route(app, context, '/v1/audio/transcriptions', 'transcribe');
  route(app, context, '/v1/audio/translations', 'translate');
}
