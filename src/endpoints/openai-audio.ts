import { UsageError } from '../foundation/errors.ts';
import type { ContentPart, Sample } from '../workloads/sample.ts';
import { ChatReader } from './chat-reader.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { type Failure, type ReplyReader, readReply } from './http-reply.ts';
import { asObject, asText, isTrue } from './json-values.ts';
import { type MediaSource, mediaBytes, mediaSource } from './media-source.ts';
import { type FormPart, formText } from './multipart-body.ts';
import { observationOf } from './observation.ts';
import { pcmDefaults } from './reply-audio.ts';
import { extraFields, formRequest } from './request-parts.ts';

/** Reads a transcript: chunks like those of a chat, or one object with its `text`. */
class TranscriptReader implements ReplyReader {
  readonly chat = new ChatReader({ audioFormat: 'wav', pcm: pcmDefaults({}), stageTokens: false });

  onMessage(message: unknown, timeMs: number): void {
    this.chat.onMessage(message, timeMs);
  }

  onWhole(value: unknown, timeMs: number): void {
    const message = asObject(value);
    const text = asText(message?.text);
    const choices = [{ message: { role: 'assistant', content: text } }];
    this.chat.onWhole(text === null ? value : { ...message, choices }, timeMs);
  }

  verdict(): Failure | null {
    return this.chat.verdict();
  }
}

function prepare(sample: Sample, target: Target): PreparedRequest {
  const translates = target.url.endsWith('translations');
  const own: Record<string, unknown> = {
    max_completion_tokens: sample.expectedOutputTokens,
    stream: target.stream,
    // As the reference sends it; a translation's source is for the model to find out.
    ...(translates ? {} : { language: 'en' }),
    ...(target.stream ? { stream_include_usage: true, stream_continuous_usage_stats: true } : {}),
    ...(target.ignoreEos ? { ignore_eos: true } : {}),
  };
  const fields: Record<string, unknown> = {
    model: target.model,
    ...(sample.recordedBody ? {} : own),
    ...extraFields(sample, target),
  };
  const parts: FormPart[] = [
    filePart(sample),
    ...Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [{ name, value: formText(value) }],
    ),
  ];
  const request = formRequest(sample, target, parts, { stream: isTrue(fields.stream) });
  return typeof fields.model === 'string' ? { ...request, model: fields.model } : request;
}

/** The one recording of a sample as a file, as it is: servers read WAV and the usual compressed formats. */
function filePart(sample: Sample): FormPart {
  const [part, ...others] = sample.media;
  if (!part || others.length > 0)
    throw new UsageError(
      `The audio API takes one recording a request, and the dataset made one with ${sample.media.length} media. Use --dataset-name custom_audio.`,
    );
  const source = recordingOf(part);
  if (source.kind === 'url')
    throw new UsageError(
      `The audio API takes files, and ${source.url.slice(0, 200)} is on the web. Download it, or use a data: URL.`,
    );
  const filename = source.kind === 'file' ? source.filename : `audio.${extensionOf(source.mime)}`;
  return { name: 'file', filename, contentType: source.mime, bytes: mediaBytes(source) };
}

function recordingOf(part: ContentPart): MediaSource {
  const inline = asObject(part.input_audio);
  const data = asText(inline?.data);
  if (data !== null) {
    const format = asText(inline?.format) ?? 'wav';
    const mime = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`;
    return { kind: 'data', url: `data:${mime};base64,${data}`, mime };
  }
  const url = asText(part.audio_url) ?? asText(asObject(part.audio_url)?.url);
  if (url !== null) return mediaSource(url);
  throw new UsageError(`The audio API takes recordings, and the dataset brings a part of type ${part.type}.`);
}

function extensionOf(mime: string): string {
  const subtype = mime.split('/')[1] ?? 'wav';
  return subtype === 'mpeg' ? 'mp3' : subtype.replace(/^x-/, '');
}

async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const reader = new TranscriptReader();
  const { attempt, outcome } = await readReply(prepared, context, reader);
  const { chat } = reader;
  const { tokens, source } = chat.output;
  return observationOf({
    attempts: [attempt],
    outcome,
    events: chat.events,
    facts: chat.facts,
    text: chat.text,
    outputTokens: tokens,
    outputTokensSource: source,
  });
}

/** Speech to text. RTFx is the length of the recordings over the duration of the run. */
export const openaiAudio: Endpoint = {
  name: 'openai-audio',
  doc: 'Speech to text, streamed: POST /v1/audio/transcriptions, or /v1/audio/translations with --endpoint; a form with the recording.',
  apiName: 'OpenAI Audio API',
  defaultPath: '/v1/audio/transcriptions',
  urlSuffixes: ['transcriptions', 'translations'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  traits: { name: 'openai-audio', itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },
  prepare,
  observe,
};
