import { eventLogOf } from '../records/event-log.ts';
import type { Observation } from './endpoint.ts';
import { failure } from './http-reply.ts';

/** What is seen of a request that this client refuses to send: a failure without a try. */
export function unsentObservation(message: string): Observation {
  return {
    attempts: [],
    events: eventLogOf([]),
    responses: [],
    text: '',
    promptTokens: null,
    outputTokens: null,
    outputTokensSource: null,
    audio: null,
    image: null,
    video: null,
    encodedAudio: null,
    outcome: failure('unsendable', message),
  };
}
