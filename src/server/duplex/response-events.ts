import { responseItemId } from '../../protocol/realtime-events.ts';
import type { ContentPart, ConversationItem, ItemStatus } from './conversation.ts';
import type { DuplexEvent } from './duplex-event.ts';
import type { ResponseFault } from './duplex-script.ts';
import type { ResponseStatus } from './response-plan.ts';

/** Who a response is, for its events. */
export type ResponseIdentity = {
  readonly responseId: string;
  readonly sessionId: string;
  readonly epoch: number;
  readonly turnId: number;
  /** Speech with its transcript; otherwise text alone. */
  readonly aloud: boolean;
  /** The item before its own; `null` = it is the first. */
  readonly previousItemId: string | null;
  /** As `response.create` gave it. */
  readonly clientMetadata: Readonly<Record<string, unknown>>;
  readonly eventNames: 'current' | 'beta';
};

type Fields = Readonly<Record<string, unknown>>;

/** Where the deltas of a response belong. */
function place({ responseId }: ResponseIdentity): Fields {
  return { response_id: responseId, item_id: responseItemId(responseId), output_index: 0, content_index: 0 };
}

/** Names of the audio events; those of transcripts follow. */
function audioName({ eventNames }: ResponseIdentity): string {
  return eventNames === 'beta' ? 'response.audio' : 'response.output_audio';
}

/** The assistant's item. */
export function assistantItem(
  identity: ResponseIdentity,
  status: ItemStatus,
  text: string | null,
): ConversationItem {
  const part: ContentPart = identity.aloud
    ? { type: 'output_audio', transcript: text ?? '' }
    : { type: 'output_text', text: text ?? '' };
  return {
    id: responseItemId(identity.responseId),
    object: 'realtime.item',
    type: 'message',
    role: 'assistant',
    status,
    content: text === null ? [] : [part],
  };
}

function contentPart({ aloud }: ResponseIdentity, text: string): Fields {
  return aloud ? { type: 'audio', transcript: text } : { type: 'text', text };
}

export function createdEvent(identity: ResponseIdentity): DuplexEvent {
  const { responseId, sessionId, epoch, turnId, aloud, clientMetadata } = identity;
  const duplexEvent = {
    type: 'response.created',
    session_id: sessionId,
    response_id: responseId,
    epoch,
    turn_id: turnId,
  };
  return {
    type: 'response.created',
    response_id: responseId,
    response: {
      id: responseId,
      object: 'realtime.response',
      status: 'in_progress',
      status_details: null,
      output: [],
      modalities: aloud ? ['audio', 'text'] : ['text'],
      metadata: { ...clientMetadata, duplex_event: duplexEvent },
    },
  };
}

/** What follows `response.created`: the assistant's item, with nothing in it yet. */
export function openingEvents(identity: ResponseIdentity): DuplexEvent[] {
  const item = assistantItem(identity, 'in_progress', null);
  const previous = { previous_item_id: identity.previousItemId, item };
  return [
    { type: 'conversation.item.added', ...previous },
    { type: 'conversation.item.created', ...previous },
    { type: 'response.output_item.added', response_id: identity.responseId, output_index: 0, item },
    { type: 'response.content_part.added', ...place(identity), part: contentPart(identity, '') },
  ];
}

export function speakEvent(identity: ResponseIdentity): DuplexEvent {
  const { sessionId, epoch } = identity;
  return {
    type: 'response.speak',
    ...place(identity),
    metadata: { session_id: sessionId, epoch, model_speak: true },
  };
}

export function audioDelta(
  identity: ResponseIdentity,
  audio: { readonly base64: string; readonly sampleRateHz: number },
  metadata: Fields,
): DuplexEvent {
  const { sessionId, epoch } = identity;
  return {
    type: `${audioName(identity)}.delta`,
    ...place(identity),
    delta: audio.base64,
    format: 'pcm16',
    sample_rate_hz: audio.sampleRateHz,
    metadata: { session_id: sessionId, epoch, model_speak: true, ...metadata },
  };
}

/** Of a response that is spoken, the transcript of the delta before it. */
export function textDelta(identity: ResponseIdentity, delta: string, metadata: Fields): DuplexEvent {
  if (identity.aloud) return { type: `${audioName(identity)}_transcript.delta`, ...place(identity), delta };
  return { type: 'response.output_text.delta', ...place(identity), delta, metadata };
}

/** The end of a response's parts, before `response.done`. */
export function closingEvents(
  identity: ResponseIdentity,
  status: ResponseStatus,
  text: string,
): DuplexEvent[] {
  const item = assistantItem(identity, status, text);
  const name = audioName(identity);
  const ends: DuplexEvent[] = identity.aloud
    ? [
        { type: `${name}.done`, ...place(identity) },
        { type: `${name}_transcript.done`, ...place(identity), transcript: text },
      ]
    : [{ type: 'response.output_text.done', ...place(identity), text }];
  return [
    ...ends,
    { type: 'response.content_part.done', ...place(identity), part: contentPart(identity, text) },
    { type: 'response.output_item.done', response_id: identity.responseId, output_index: 0, item },
    { type: 'conversation.item.done', previous_item_id: identity.previousItemId, item },
  ];
}

export function doneEvent(
  identity: ResponseIdentity,
  end: {
    readonly status: ResponseStatus;
    readonly reason: string | null;
    readonly item: ConversationItem | null;
  },
  metadata: Fields,
): DuplexEvent {
  const { responseId, sessionId, epoch, clientMetadata } = identity;
  const { status, reason, item } = end;
  return {
    type: 'response.done',
    response_id: responseId,
    response: {
      id: responseId,
      object: 'realtime.response',
      status,
      status_details: status === 'completed' ? null : { type: status, reason },
      output: item === null ? [] : [item],
      metadata: {
        ...clientMetadata,
        type: 'response.done',
        session_id: sessionId,
        response_id: responseId,
        epoch,
        ...metadata,
      },
    },
  };
}

/** A response that is a call of a function. */
export function functionCallEvents(
  identity: ResponseIdentity,
  call: { readonly callId: string; readonly name: string; readonly arguments: string },
): { readonly item: ConversationItem; readonly events: DuplexEvent[] } {
  const { responseId, previousItemId } = identity;
  const item: ConversationItem = {
    id: responseItemId(responseId),
    object: 'realtime.item',
    type: 'function_call',
    status: 'completed',
    name: call.name,
    call_id: call.callId,
    arguments: call.arguments,
  };
  const at = { response_id: responseId, item_id: item.id, output_index: 0, call_id: call.callId };
  return {
    item,
    events: [
      { type: 'conversation.item.added', previous_item_id: previousItemId, item },
      { type: 'conversation.item.created', previous_item_id: previousItemId, item },
      { type: 'response.output_item.added', response_id: responseId, output_index: 0, item },
      { type: 'response.function_call_arguments.delta', ...at, delta: call.arguments },
      { type: 'response.function_call_arguments.done', ...at, arguments: call.arguments },
      { type: 'response.output_item.done', response_id: responseId, output_index: 0, item },
      { type: 'conversation.item.done', previous_item_id: previousItemId, item },
    ],
  };
}

function without(event: DuplexEvent, key: string): DuplexEvent {
  return { ...Object.fromEntries(Object.entries(event).filter(([name]) => name !== key)), type: event.type };
}

function withoutIds(event: DuplexEvent): DuplexEvent {
  const { response } = event;
  if (typeof response !== 'object' || response === null) return without(event, 'response_id');
  const bare = Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'id'));
  return { ...without(event, 'response_id'), type: event.type, response: bare };
}

function faultyAudio(event: DuplexEvent, fault: ResponseFault): DuplexEvent {
  switch (fault) {
    case 'no_response_id':
      return without(event, 'response_id');
    case 'wrong_format':
      return { ...event, format: 'pcm_f32le' };
    case 'no_format':
      return without(event, 'format');
    case 'wrong_rate':
      return { ...event, sample_rate_hz: 16000 };
    case 'no_rate':
      return without(event, 'sample_rate_hz');
    case 'bad_base64':
      return { ...event, delta: `!${String(event.delta).slice(1)}` };
    case 'empty_audio':
      return { ...event, delta: '' };
    case 'odd_bytes':
      return { ...event, delta: Buffer.alloc(3).toString('base64') };
    case 'no_audio_payload':
      return without(event, 'delta');
    default:
      return event;
  }
}

function faultyCreated(event: DuplexEvent, fault: ResponseFault): DuplexEvent[] {
  if (fault === 'no_created') return [];
  if (fault === 'created_without_id') return [withoutIds(event)];
  return fault === 'duplicate_created' ? [event, event] : [event];
}

function faultyDone(event: DuplexEvent, fault: ResponseFault, foreignId: string): DuplexEvent[] {
  if (fault === 'no_done') return [];
  if (fault === 'done_without_id') return [withoutIds(event)];
  if (fault === 'foreign_done')
    return [{ ...event, response_id: foreignId, response: { ...Object(event.response), id: foreignId } }];
  return fault === 'duplicate_done' ? [event, event] : [event];
}

/** What leaves in place of an event where a response is to be wrong. */
export function applyFault(
  event: DuplexEvent,
  fault: ResponseFault | null,
  foreignId: string,
): DuplexEvent[] {
  if (fault === null) return [event];
  if (event.type === 'response.created') return faultyCreated(event, fault);
  if (event.type === 'response.done') return faultyDone(event, fault, foreignId);
  return event.type.endsWith('audio.delta') ? [faultyAudio(event, fault)] : [event];
}
