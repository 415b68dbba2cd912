import type { Assistant } from './assistant.ts';
import { readItem } from './conversation.ts';
import { DuplexError } from './duplex-error.ts';
import type { SessionCore } from './session-core.ts';
import type { UserInput } from './user-input.ts';

/** An event of a client. */
export type ClientEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** What events act on. */
type SessionFace = {
  readonly core: SessionCore;
  readonly assistant: Assistant;
  readonly input: UserInput;
  /** @throws DuplexError */
  update(session: unknown): void;
  close(): void;
  /** @throws DuplexError where the script refuses it */
  countAck(): void;
  bargeIn(reason: string): void;
  capabilities(): Readonly<Record<string, unknown>>;
};

type Handler = (session: SessionFace, event: ClientEvent) => void;

function requireBargeIn(session: SessionFace): void {
  if (session.capabilities().supports_barge_in === true) return;
  throw new DuplexError('bad_event', 'This session does not support barge-in (see its capabilities).');
}

const bargeIn: Handler = (session) => {
  requireBargeIn(session);
  session.bargeIn('barge_in');
};

const turnSignal: Handler = (session, event) => {
  if (event.event === 'barge_in') bargeIn(session, event);
  else throw new DuplexError('bad_event', 'turn.signal needs "event": "barge_in".', 'event');
};

const textAppend: Handler = () => {
  throw new DuplexError(
    'native_text_append_unsupported',
    'A model that listens natively takes no text into its input; use conversation.item.create.',
  );
};

const commit: Handler = (session, event) => session.input.commit(event);

const close: Handler = (session) => session.close();

const playbackAck: Handler = (session, event) => {
  const { core, assistant } = session;
  session.countAck();
  const ack = core.ledger.read(event, assistant.activeId);
  const changed = core.ledger.acknowledge(ack, core.turnId);
  core.emit({
    type: 'playback.acknowledged',
    event: {
      type: 'playback.acknowledged',
      session_id: core.id,
      epoch: core.epoch,
      response_id: ack.responseId,
      item_id: ack.itemId,
      played_ms: ack.playedMs,
      committed_ms: ack.committedMs,
      truncate: ack.truncate,
      playback: core.ledger.marks(ack.responseId),
      history_committed: changed,
    },
  });
};

const itemCreate: Handler = ({ core, input }, event) => {
  const item = readItem(event.item, `item_${core.parts.newId()}`);
  const previousItemId = core.conversation.lastId;
  core.conversation.add(item);
  input.putIn(item);
  core.emit({ type: 'conversation.item.added', previous_item_id: previousItemId, item });
  core.emit({ type: 'conversation.item.created', previous_item_id: previousItemId, item });
};

const itemRetrieve: Handler = ({ core }, event) => {
  const item = core.conversation.find(event);
  // Of an assistant's words, those count that were heard.
  const heard = item.role === 'assistant' ? core.ledger.history(item.id.slice('item_'.length)) : null;
  const content = heard === null ? item.content : item.content?.map((part) => heardPart(part, heard));
  core.emit({
    type: 'conversation.item.retrieved',
    item: { ...item, ...(content === undefined ? {} : { content }) },
  });
};

function heardPart<Part extends { readonly type: string }>(part: Part, heard: string): Part {
  return part.type === 'output_audio' ? { ...part, transcript: heard } : part;
}

const itemDelete: Handler = ({ core }, event) => {
  const { id } = core.conversation.find(event);
  core.conversation.delete(id);
  core.emit({
    type: 'conversation.item.deleted',
    item_id: id,
    event: { type: 'conversation.item.deleted', item_id: id },
  });
};

const itemTruncate: Handler = ({ core }, event) => {
  const item = core.conversation.find(event);
  const { audio_end_ms: audioEndMs, content_index: contentIndex = 0 } = event;
  if (typeof audioEndMs !== 'number' || !(audioEndMs >= 0))
    throw new DuplexError('bad_event', 'conversation.item.truncate needs "audio_end_ms".', 'audio_end_ms');
  if (contentIndex !== 0)
    throw new DuplexError(
      'bad_event',
      "An assistant's item has one part: content_index must be 0.",
      'content_index',
    );
  if (item.role !== 'assistant')
    throw new DuplexError('bad_event', "Only an assistant's item can be truncated.", 'item_id');
  core.ledger.truncate(item.id.slice('item_'.length), audioEndMs);
  core.emit({
    type: 'conversation.item.truncated',
    item_id: item.id,
    content_index: contentIndex,
    audio_end_ms: audioEndMs,
    event: { type: 'conversation.item.truncated', item_id: item.id, audio_end_ms: audioEndMs },
  });
};

/** Of a response's options, those that a model which answers by itself can't have per response. */
const turnOptions = [
  'instructions',
  'temperature',
  'max_output_tokens',
  'output_audio_format',
  'tools',
  'voice',
];

function wantedAloud(modalities: unknown): boolean | null {
  if (modalities === undefined || modalities === null) return null;
  if (!Array.isArray(modalities) || modalities.length === 0)
    throw new DuplexError(
      'bad_event',
      'response.modalities must be a list of "audio" and "text".',
      'response.modalities',
    );
  return modalities.includes('audio');
}

/** It comes back with the response's first and last event. */
const mostMetadataChars = 16 * 1024;

function readMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  if (metadata === undefined || metadata === null) return {};
  if (
    typeof metadata !== 'object' ||
    Array.isArray(metadata) ||
    JSON.stringify(metadata).length > mostMetadataChars
  )
    throw new DuplexError(
      'bad_event',
      `response.metadata must be an object of at most ${mostMetadataChars} characters.`,
      'response.metadata',
    );
  return { ...metadata };
}

const responseCreate: Handler = (session, event) => {
  const { core, assistant, input } = session;
  const wish = typeof event.response === 'object' && event.response !== null ? { ...event.response } : {};
  const fields: Readonly<Record<string, unknown>> = wish;
  const native = core.config.autoResponse && core.config.serverVad === null;
  const unsupported = turnOptions.find(
    (option) => native && fields[option] !== undefined && fields[option] !== null,
  );
  if (unsupported !== undefined)
    throw new DuplexError(
      'unsupported_native_response_options',
      `response.${unsupported} can't be set per response in a session that answers by itself.`,
      `response.${unsupported}`,
    );
  if (assistant.activeId !== null)
    throw new DuplexError('response_already_active', `Response ${assistant.activeId} is active.`);
  const aloud = wantedAloud(fields.modalities);
  const metadata = readMetadata(fields.metadata);
  input.requireUnanswered();
  input.answered({ aloud, metadata });
};

const inputCancel: Handler = ({ assistant, input }) => {
  assistant.forgetOwed();
  assistant.interrupt('client_cancelled');
  input.clear();
};

const outputClear: Handler = ({ core, assistant }) => {
  const responseId = assistant.latestId;
  assistant.interrupt('client_cancelled');
  core.emit({ type: 'output_audio_buffer.cleared', response_id: responseId });
};

const eventAck: Handler = ({ core }, event) => {
  const { server_event_seq: seq } = event;
  if (typeof seq !== 'number' || !Number.isInteger(seq))
    throw new DuplexError(
      'bad_event',
      'session.event_ack needs "server_event_seq": a whole number.',
      'server_event_seq',
    );
  core.outbox.acknowledge(Math.min(seq, core.outbox.lastSeq));
};

/** What a session does with each event. */
export const eventHandlers: Readonly<Record<string, Handler>> = {
  'session.update': (session, event) => session.update(event.session),
  'session.heartbeat': ({ core }) => core.emit({ type: 'session.heartbeat_ack', session_id: core.id }),
  'session.event_ack': eventAck,
  'session.close': close,
  close_session: close,
  close,
  'session.resume': () => {
    throw new DuplexError('session_exists', 'This socket has a session; resume another on a new socket.');
  },
  'input_audio_buffer.append': (session, event) => session.input.append(event),
  'input_audio_buffer.commit': commit,
  'input.commit': commit,
  'input_audio_buffer.clear': (session) => session.input.clear(),
  'input.cancel': inputCancel,
  'input.text.append': textAppend,
  'input_text.append': textAppend,
  push_text: textAppend,
  'conversation.item.create': itemCreate,
  'conversation.item.retrieve': itemRetrieve,
  'conversation.item.delete': itemDelete,
  'conversation.item.truncate': itemTruncate,
  'response.create': responseCreate,
  'response.cancel': ({ assistant }, event) => assistant.cancel(event.response_id),
  'output_audio_buffer.clear': outputClear,
  barge_in: bargeIn,
  'turn.signal': turnSignal,
  signal_turn: turnSignal,
  'playback.ack': playbackAck,
  'audio.playback_ack': playbackAck,
};
