import type { Endpoint } from './endpoint.ts';
import { observePooling } from './pooling-reader.ts';

/** The adapters of vectors and scores differ in their body and name only. */
export function poolingEndpoint(
  own: Pick<Endpoint, 'name' | 'doc' | 'apiName' | 'defaultPath' | 'urlSuffixes' | 'prompts' | 'prepare'>,
): Endpoint {
  return {
    ...own,
    task: 'pooling',
    samplingParameters: false,
    traits: { name: own.name, itl: 'chunk_gap', latencyEnd: 'body_end', output: 'pooling' },
    observe: observePooling,
  };
}
