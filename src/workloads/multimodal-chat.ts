import type { DatasetOptions } from './dataset.ts';
import type { ContentPart, Sample } from './sample.ts';

/** A sample as whole messages, where `--enable-multimodal-chat` asks for them: one message, its text first. */
export function asMultimodalChat(sample: Sample, options: DatasetOptions): Sample {
  const { prompt } = sample;
  if (!options.enableMultimodalChat || sample.chatMessages || typeof prompt !== 'string') return sample;
  const text: ContentPart[] = prompt === '' ? [] : [{ type: 'text', text: prompt }];
  return { ...sample, media: [], chatMessages: [{ role: 'user', content: [...text, ...sample.media] }] };
}
