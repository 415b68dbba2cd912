import type { FastifyInstance } from 'fastify';
import { type AudioFormat, audioMimeTypes, encodeAudio } from '../../media/encode-audio.ts';
import { wavStreamHeader } from '../../media/wav-stream-header.ts';
import { type SpeechUsage, speechRequestSchema } from '../../protocol/speech.ts';
import type { PcmAudio, StageOutput } from '../engine/stage-engine.ts';
import type { PipelineRun } from '../pipeline/pipeline-run.ts';
import type { ApiContext } from './api-context.ts';
import { asciiJson } from './ascii-json.ts';
import { joinAudio, shownRateHz } from './audio-encoding.ts';
import { ByteStream } from './byte-stream.ts';
import { type CollectedRun, collectRun } from './collect-run.ts';
import { EventStream } from './event-stream.ts';
import { requireCapability, requireLiveStages } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import type { ReplyLife } from './reply-life.ts';
import { parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { planSpeech, type SpeechPlan } from './speech-plan.ts';
import type { VoiceStore } from './voice-store.ts';
import { sendBytes } from './whole-reply.ts';

/** Tokens of a run that spoke: codec frames are those of its last stage that counts tokens. */
export function speechUsage(
  { textTokens, referenceTokens }: Pick<SpeechPlan, 'textTokens' | 'referenceTokens'>,
  run: PipelineRun,
): SpeechUsage {
  const counts = Object.values(run.allSnapshots()).map((stage) => stage.num_tokens_out ?? 0);
  const outputTokens = counts.filter((count) => count > 0).at(-1) ?? 0;
  const inputTokens = textTokens + referenceTokens;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_token_details: { text_tokens: textTokens, audio_tokens: referenceTokens },
  };
}

function usageHeaders(usage: SpeechUsage): Record<string, string> {
  return {
    'x-vllm-omni-input-tokens': String(usage.input_tokens),
    'x-vllm-omni-output-tokens': String(usage.output_tokens),
    'x-vllm-omni-total-tokens': String(usage.total_tokens),
    'x-vllm-omni-input-text-tokens': String(usage.input_token_details.text_tokens),
    'x-vllm-omni-input-audio-tokens': String(usage.input_token_details.audio_tokens),
  };
}

function formatHeaders(sampleRateHz: number): Record<string, string> {
  return { 'x-sample-rate': String(sampleRateHz), 'x-channels': '1', 'x-sample-format': 's16le' };
}

/** The sound of a run. @throws RequestError 500 where there is none */
export function soundOf({ sounds }: CollectedRun): PcmAudio {
  const sound = joinAudio(sounds);
  if (sound === null) throw new RequestError(500, 'Speech was asked for, but no audio was produced.');
  return sound;
}

async function sendWhole(life: ReplyLife, plan: SpeechPlan): Promise<void> {
  const collected = await collectRun(life, plan.run);
  const sound = soundOf(collected);
  const sampleRateHz = shownRateHz(sound.sampleRateHz, life.fault);
  const file = await encodeAudio(sound.pcm, { sampleRateHz, channels: 1 }, plan.format);
  life.accepted.truth.note('audio', { samples: sound.samples });
  sendBytes(life, file, {
    'content-type': audioMimeTypes[plan.format],
    ...formatHeaders(sampleRateHz),
    ...usageHeaders(speechUsage(plan, collected.run)),
  });
}

/** Bytes of each chunk: bare samples, and before the first of them a header where the format has one. */
class ChunkBytes {
  readonly #header: Buffer | null;
  #begun = false;

  constructor(format: AudioFormat, sampleRateHz: number) {
    this.#header = format === 'wav' ? wavStreamHeader({ sampleRateHz, channels: 1 }) : null;
  }

  of({ pcm }: PcmAudio): Buffer {
    const first = !this.#begun;
    this.#begun = true;
    return first && this.#header !== null ? Buffer.concat([this.#header, pcm]) : pcm;
  }
}

function audioOf({ audio }: StageOutput): PcmAudio | null {
  return audio === null || audio.samples === 0 ? null : audio;
}

async function streamBytes(life: ReplyLife, plan: SpeechPlan): Promise<void> {
  const stream = new ByteStream(life);
  const sampleRateHz = shownRateHz(plan.sampleRateHz, life.fault);
  const chunks = new ChunkBytes(plan.format, sampleRateHz);
  const mimeType = plan.format === 'pcm' ? `audio/pcm;rate=${sampleRateHz};channels=1` : audioMimeTypes.wav;
  stream.open(mimeType, formatHeaders(sampleRateHz));
  await collectRun(life, plan.run, {
    onOutput: (_stage, output) => {
      const audio = audioOf(output);
      if (audio !== null) stream.send(chunks.of(audio), { samples: audio.samples });
    },
  });
  stream.end();
}

async function streamEvents(life: ReplyLife, plan: SpeechPlan): Promise<void> {
  const stream = new EventStream(life);
  const sampleRateHz = shownRateHz(plan.sampleRateHz, life.fault);
  const chunks = new ChunkBytes(plan.format, sampleRateHz);
  stream.open(formatHeaders(sampleRateHz));
  const send = (event: 'audio' | 'usage' | 'error', type: string, facts: object, samples?: number): void =>
    stream.send(event, asciiJson({ type, ...facts }), samples === undefined ? {} : { samples }, type);
  try {
    const collected = await collectRun(life, plan.run, {
      onOutput: (_stage, output) => {
        const audio = audioOf(output);
        if (audio === null) return;
        const facts = { audio: chunks.of(audio).toString('base64'), response_format: plan.format };
        send('audio', 'speech.audio.delta', facts, audio.samples);
      },
    });
    soundOf(collected);
    send('usage', 'speech.audio.done', { usage: speechUsage(plan, collected.run) });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { message, status } = error;
    send('error', 'speech.audio.error', {
      error: { message, type: 'server_error', param: null, code: status },
    });
  }
  stream.close();
}

const deliveries = { whole: sendWhole, bytes: streamBytes, events: streamEvents };

/** `POST /v1/audio/speech` */
export function speechRoute(app: FastifyInstance, context: ApiContext, voices: VoiceStore): void {
  app.post('/v1/audio/speech', async (request, reply) => {
    requireCapability(context, 'speech');
    const plan = await planSpeech(parseBody(speechRequestSchema, request.body), context, voices);
    openReply(context, request, reply, plan.model, (life) => {
      requireLiveStages(context, plan.run);
      return deliveries[plan.delivery](life, plan);
    });
  });
}
