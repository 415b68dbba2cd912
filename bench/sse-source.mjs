// A model server that costs as little as it can: it plays OpenAI chat chunks over raw sockets, one HTTP chunk and one
// write per event, each with the time of its write inside. Its process is not measured.
//
// usage: node bench/sse-source.mjs --events N --per-second R
//   --events      events of content in each streamed reply
//   --per-second  events per second of each stream; 0 = one after the other, as fast as sockets take them
// Prints {"port": N} once it listens. An unstreamed request gets a small chat reply.
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { stampOf } from './stamps.mjs';

const { values } = parseArgs({ options: { events: { type: 'string' }, 'per-second': { type: 'string' } } });
const eventsPerReply = Number(values.events ?? 100);
const intervalMs = Number(values['per-second'] ?? 0) > 0 ? 1000 / Number(values['per-second']) : 0;

/** Size of one event's JSON: a chat chunk as vLLM writes it. */
const chunkJsonBytes = 230;
/** At 511, the default, a thousand simultaneous connections see their first bytes several times later. */
const backlog = 4096;
const endOfHead = '\r\n\r\n';

const streamHead = [
  'HTTP/1.1 200 OK',
  'content-type: text/event-stream; charset=utf-8',
  'transfer-encoding: chunked',
  '',
  '',
].join('\r\n');

/** @param {string} data */
function chunkOf(data) {
  const event = `data: ${data}\n\n`;
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

function chatChunk(content, finishReason) {
  return {
    id: 'chatcmpl-000000000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench',
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: finishReason }],
  };
}

/** The two halves of an event around its stamp. */
function contentChunk() {
  const stamp = stampOf(0);
  const bare = JSON.stringify({ ...chatChunk(stamp, null), system_fingerprint: '' });
  const padding = 'f'.repeat(Math.max(0, chunkJsonBytes - bare.length));
  const framed = chunkOf(JSON.stringify({ ...chatChunk(stamp, null), system_fingerprint: padding }));
  const at = framed.indexOf(stamp);
  return { before: framed.slice(0, at), after: framed.slice(at + stamp.length) };
}

const content = contentChunk();
const endOfStream = [
  chunkOf(JSON.stringify(chatChunk('', 'stop'))),
  chunkOf(
    JSON.stringify({
      ...chatChunk('', null),
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: eventsPerReply, total_tokens: 4 + eventsPerReply },
    }),
  ),
  chunkOf('[DONE]'),
  '0\r\n\r\n',
].join('');

function wholeReply() {
  const body = JSON.stringify({
    id: 'chatcmpl-000000000000000000000000',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'A short answer.' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 },
  });
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
const unstreamed = wholeReply();

/**
 * Streams under way.
 * @type {Set<{ socket: import('node:net').Socket, left: number, dueMs: number }>}
 */
const streams = new Set();
let ticking = false;

function writeEvent(stream) {
  stream.socket.write(`${content.before}${stampOf(performance.now())}${content.after}`, 'latin1');
  stream.left -= 1;
  if (stream.left > 0) return;
  streams.delete(stream);
  stream.socket.write(endOfStream, 'latin1');
}

/** Writes what is due. A stream that is late skips time instead of catching up: no two of its events are bunched. */
function tick() {
  const nowMs = performance.now();
  for (const stream of streams) {
    if (stream.socket.destroyed) streams.delete(stream);
    if (stream.dueMs > nowMs) continue;
    writeEvent(stream);
    stream.dueMs = Math.max(stream.dueMs + intervalMs, nowMs + intervalMs / 2);
  }
  ticking = streams.size > 0;
  if (!ticking) return;
  if (intervalMs > 0) setTimeout(tick, 1);
  else setImmediate(tick);
}

/** The streams of one client begin at once, but their events are spread over the interval. */
function answer(socket, streamed) {
  if (!streamed) {
    socket.write(unstreamed, 'latin1');
    return;
  }
  socket.write(streamHead, 'latin1');
  streams.add({ socket, left: eventsPerReply, dueMs: performance.now() + Math.random() * intervalMs });
  if (ticking) return;
  ticking = true;
  setImmediate(tick);
}

const server = createServer({ noDelay: true }, (socket) => {
  let held = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    held += bytes.toString('latin1');
    for (;;) {
      const end = held.indexOf(endOfHead);
      if (end === -1) return;
      const size = Number(/^content-length: *(\d+)/im.exec(held.slice(0, end))?.[1] ?? 0);
      const bodyAt = end + endOfHead.length;
      if (held.length < bodyAt + size) return;
      const body = held.slice(bodyAt, bodyAt + size);
      held = held.slice(bodyAt + size);
      answer(socket, /"stream": *true/.test(body));
    }
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog }, () => {
  console.log(JSON.stringify({ port: server.address().port }));
});
