import { UsageError } from '../foundation/errors.ts';
import type { Sample } from '../workloads/sample.ts';
import type { Endpoint, PreparedRequest, Target } from './endpoint.ts';
import { warmUpImages } from './image-payload.ts';
import { observeImages } from './image-reader.ts';
import { positiveInteger } from './json-values.ts';
import { droppedNote, pictureSize } from './picture-fields.ts';
import { extraFields, fieldPlace, jsonBody, promptText, refuseMedia } from './request-parts.ts';

/** Fields that are built, and so not taken from the extra body. */
const builtKeys = ['model', 'prompt', 'response_format'] as const;
const consumedKeys = new Set<string>([
  ...builtKeys,
  'n',
  'num_outputs_per_prompt',
  'size',
  'width',
  'height',
]);

function prepare(sample: Sample, target: Target): PreparedRequest {
  refuseMedia(sample, 'The image generations API');
  const extra = extraFields(sample, target);
  const size = pictureSize(extra);
  const others = Object.entries(extra).filter(([key]) => !consumedKeys.has(key));
  const body = {
    model: target.model,
    prompt: promptText(sample, 'The image generations API'),
    n: imageCount(sample, extra),
    response_format: 'b64_json',
    ...(size === null ? {} : { size }),
    ...Object.fromEntries(others),
  };
  const refused = builtKeys.filter((key) => key in extra && extra[key] !== body[key]);
  if (sample.recordedBody) return jsonBody(sample, target, body);
  return {
    ...jsonBody(sample, target, body),
    notes: droppedNote(
      '/v1/images/generations',
      [...refused.map((key) => `other ${key}`), ...halfSize(extra, size)],
      sample,
    ),
  };
}

/** @throws UsageError for a number of images that is none */
function imageCount(sample: Sample, extra: Readonly<Record<string, unknown>>): number {
  for (const key of ['n', 'num_outputs_per_prompt']) {
    const value = extra[key];
    // The original takes 0 for not given.
    if (value === undefined || value === null || value === 0) continue;
    const count = positiveInteger(value);
    if (count === null)
      throw new UsageError(
        `${fieldPlace(sample, key)}: expected a whole number of images from 1, got ${JSON.stringify(value)}.`,
      );
    return count;
  }
  return 1;
}

/** One side alone makes no size. */
function halfSize(extra: Readonly<Record<string, unknown>>, size: string | null): string[] {
  return size === null ? ['width', 'height'].filter((key) => key in extra) : [];
}

/** Images from a prompt, in one JSON object. */
export const imagesGenerations: Endpoint = {
  name: '/v1/images/generations',
  doc: 'Images from a prompt: POST /v1/images/generations, base64 in JSON. Needs no --backend: the path names it.',
  apiName: 'OpenAI Image Generations API',
  defaultPath: '/v1/images/generations',
  urlSuffixes: ['images/generations'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  traits: {
    name: '/v1/images/generations',
    itl: 'chunk_gap',
    latencyEnd: 'last_message',
    output: 'pictures',
  },
  wantsStageMetrics: () => true,
  warmUp: warmUpImages,
  prepare,
  observe: observeImages,
};
