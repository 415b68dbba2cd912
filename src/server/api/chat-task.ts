import type { ChatRequest } from '../../protocol/chat-completions.ts';
import type { ImageTask } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import type { ChatPrompt } from './chat-prompt.ts';
import { wantedSize } from './diffusion-task.ts';
import { RequestError } from './request-error.ts';

/** The images that a chat asks for. @throws RequestError 400 for a prompt without text, or a bad size */
export function chatImageTask(request: ChatRequest, prompt: ChatPrompt, context: ApiContext): ImageTask {
  if (prompt.text.trim() === '') throw new RequestError(400, 'No text prompt found in messages', 'messages');
  const size = wantedSize(request, context.limits.imagePixels);
  return {
    kind: 'image',
    count: request.num_outputs_per_prompt ?? 1,
    prompt: prompt.text,
    negativePrompt: request.negative_prompt ?? null,
    widthPx: size?.widthPx ?? null,
    heightPx: size?.heightPx ?? null,
    numInferenceSteps: request.num_inference_steps ?? null,
    guidanceScale: request.guidance_scale ?? null,
    trueCfgScale: request.true_cfg_scale ?? request.cfg_scale ?? null,
    seed: request.seed ?? null,
    references: prompt.media.filter(({ kind }) => kind === 'image'),
    extra: {},
  };
}
