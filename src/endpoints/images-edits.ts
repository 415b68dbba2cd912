import { UsageError } from '../foundation/errors.ts';
import type { Sample } from '../workloads/sample.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { warmUpImages } from './image-payload.ts';
import { observeImages } from './image-reader.ts';
import { asArray, asObject, asText, isTrue } from './json-values.ts';
import { mediaBytes, mediaSource } from './media-source.ts';
import { type FormPart, formText } from './multipart-body.ts';
import { droppedNote, pictureSize, sizeKeys, soundNote } from './picture-fields.ts';
import { extraFields, formRequest, promptText } from './request-parts.ts';
import { unsentObservation } from './unsent-observation.ts';

/** Fields of the extra body that the form has a place for, in the order in which they are sent. */
const formKeys = [
  'negative_prompt',
  'num_inference_steps',
  'guidance_scale',
  'guidance_scale_2',
  'strength',
  'true_cfg_scale',
  'seed',
  'generator_device',
  'lora',
  'layers',
  'resolution',
  'bot_task',
  'sys_type',
  'system_prompt',
  'return_stage_metrics',
] as const;
/** Fields of a recorded request that the adapter sends on its own account. */
const recordedKeys = ['prompt', 'response_format'];
const knownKeys = new Set<string>([...formKeys, ...sizeKeys, 'output_format', 'stream']);

function prepare(sample: Sample, target: Target): PreparedRequest {
  const extra = extraFields(sample, target);
  const inputs = [...sample.media, ...asArray(sample.chatMessages)].flatMap(imageInputs);
  const parts: FormPart[] = [
    { name: 'model', value: target.model },
    { name: 'prompt', value: promptText(sample, 'The image edits API') },
    { name: 'response_format', value: 'b64_json' },
    { name: 'output_format', value: formText(extra.output_format ?? 'png') },
    // Off unless asked for: servers refuse a stream of a pipeline of one stage (vLLM-Omni PR #4728).
    { name: 'stream', value: String(isTrue(extra.stream)) },
    { name: 'size', value: pictureSize(extra) ?? 'auto' },
    ...formKeys.flatMap((name) => {
      const value = extra[name];
      return value === undefined || value === null ? [] : [{ name, value: formText(value) }];
    }),
    ...inputs.map(imagePart),
  ];
  const built = sample.recordedBody ? recordedKeys : [];
  const dropped = Object.keys(extra).filter(
    (key) => !knownKeys.has(key) && !built.includes(key) && extra[key] !== null,
  );
  const prepared: PreparedRequest = {
    ...formRequest(sample, target, parts, { stream: isTrue(extra.stream) }),
    notes: [
      ...droppedNote('/v1/images/edits', dropped, sample),
      ...soundNote('/v1/images/edits', sample.media),
    ],
  };
  return inputs.length > 0 ? prepared : { ...prepared, unsendable: noImage };
}

const noImage =
  'openai-image-edits-omni requires image multimodal content. For synthetic inputs, use --dataset-name random-mm with an image bucket.';

/** The images in a sample's media or messages, wherever they stand; sound and video have no place here. */
function imageInputs(media: unknown): string[] {
  if (typeof media === 'string') return [media];
  if (Array.isArray(media)) return media.flatMap(imageInputs);
  const fields = asObject(media);
  if (!fields) throw new UsageError(`Unsupported image edit input: ${typeof media}`);
  if (fields.image_url !== undefined)
    return imageInputs(asText(fields.image_url) ?? asText(asObject(fields.image_url)?.url));
  if (Array.isArray(fields.content)) return fields.content.flatMap(imageInputs);
  return [fields.image, fields.images]
    .filter((each) => each !== undefined && each !== null)
    .flatMap(imageInputs);
}

function imagePart(text: string): FormPart {
  const source = mediaSource(text);
  if (source.kind === 'data' && !source.mime.startsWith('image/'))
    throw new UsageError(`Unsupported image edit input: a data URL of type ${source.mime || 'none'}`);
  if (source.kind !== 'file') return { name: 'url', value: source.url };
  return { name: 'image', filename: source.filename, contentType: source.mime, bytes: mediaBytes(source) };
}

function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  if (prepared.unsendable !== undefined) return Promise.resolve(unsentObservation(prepared.unsendable));
  return observeImages(prepared, context);
}

function edits(name: string): Endpoint {
  return {
    name,
    doc: 'Images from images and a prompt: POST /v1/images/edits, a form. JSON by default, events with "stream": true in --extra-body. The dataset must bring images.',
    apiName: 'OpenAI Image Edits API',
    defaultPath: '/v1/images/edits',
    urlSuffixes: ['images/edits'],
    task: 'generation',
    prompts: 'plain',
    samplingParameters: true,
    takesBotTask: true,
    traits: { name, itl: 'chunk_gap', latencyEnd: 'last_message', output: 'pictures' },
    wantsStageMetrics: () => true,
    warmUp: warmUpImages,
    prepare,
    observe,
  };
}

export const imagesEdits = edits('/v1/images/edits');
/** The same dialect under the name that it had before its path named it. */
export const openaiImageEditsOmni = edits('openai-image-edits-omni');
