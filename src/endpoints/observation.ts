import type { EventLogBuilder } from '../records/event-log.ts';
import type { Attempt, AudioFacts, Outcome } from '../records/request-record.ts';
import type { Observation } from './endpoint.ts';
import { positiveInteger } from './json-values.ts';
import type { ReplyFacts } from './reply-facts.ts';

/** Audio of a reply, added up. */
type GatheredAudio = {
  readonly format: string;
  facts(): AudioFacts | null;
  /** Bytes to decode after the reply; `null` = none. */
  encoded(): Uint8Array | null;
};

/** What a reader of one HTTP reply has gathered. */
export type Gathered = {
  readonly attempts: readonly Attempt[];
  readonly outcome: Outcome;
  readonly events: EventLogBuilder;
  readonly facts: ReplyFacts;
  readonly text: string;
  readonly outputTokens: number | null;
  readonly outputTokensSource: Observation['outputTokensSource'];
  readonly audio?: GatheredAudio;
  readonly image?: Observation['image'];
  readonly video?: Observation['video'];
};

/** The observation of a request that had one response. */
export function observationOf(gathered: Gathered): Observation {
  const { audio, facts } = gathered;
  const encoded = audio?.encoded() ?? null;
  return {
    attempts: gathered.attempts,
    events: gathered.events.build(),
    responses: [facts.build()],
    text: gathered.text,
    promptTokens: positiveInteger(facts.usage?.prompt_tokens ?? facts.usage?.input_tokens),
    outputTokens: gathered.outputTokens,
    outputTokensSource: gathered.outputTokensSource,
    audio: audio?.facts() ?? null,
    image: gathered.image ?? null,
    video: gathered.video ?? null,
    outcome: gathered.outcome,
    encodedAudio: audio && encoded ? { format: audio.format, bytes: encoded } : null,
  };
}
