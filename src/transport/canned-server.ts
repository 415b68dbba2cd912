import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';

/** One chunk of speech follows this many chunks of text. */
const textPerAudio = 80;
/** Samples in a chunk of speech: with the header, 20 KB of base64. */
const audioSamples = 7500;
const sampleRateHz = 24_000;

const endOfHead = '\r\n\r\n';
const replyHead = [
  'HTTP/1.1 200 OK',
  'content-type: text/event-stream; charset=utf-8',
  'cache-control: no-cache',
  'transfer-encoding: chunked',
  '',
  '',
].join('\r\n');

/** A tone as a mono 16-bit WAV file. */
function wavFile(): Buffer {
  const file = Buffer.alloc(44 + audioSamples * 2);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRateHz, 24);
  file.writeUInt32LE(sampleRateHz * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(audioSamples * 2, 40);
  for (let i = 0; i < audioSamples; i += 1) file.writeInt16LE(Math.round(9000 * Math.sin(i / 9)), 44 + i * 2);
  return file;
}

/** One server-sent event as a chunk of its own, as servers write them. */
function chunkOf(data: string): Buffer {
  const event = `data: ${data}\n\n`;
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`, 'utf8');
}

type Chunk = Readonly<Record<string, unknown>>;

const named = { id: 'chatcmpl-warmup', object: 'chat.completion.chunk', created: 0, model: 'warm-up' };

function usageOf(tokens: number): Chunk {
  return { prompt_tokens: 8, completion_tokens: tokens, total_tokens: 8 + tokens };
}

/**
 * A chunk of text as various servers write it; each carries the fields of chat and of completions. V8 compiles code for
 * the shapes of objects that it has seen, and throws it away at the first chunk of another shape: code that has seen
 * many is kept when the first server's chunks come. In the last ones more than the text changes from chunk to chunk.
 */
const textShapes: readonly ((text: string, tokens: number) => Chunk)[] = [
  (text) => ({
    ...named,
    choices: [{ index: 0, delta: { content: text }, logprobs: null, finish_reason: null }],
  }),
  (text) => ({
    ...named,
    system_fingerprint: null,
    choices: [{ index: 0, text, logprobs: null, finish_reason: null, stop_reason: null }],
    usage: null,
  }),
  (text) => ({
    choices: [{ delta: { role: 'assistant', content: text, tool_calls: null }, index: 0 }],
    ...named,
    modality: 'text',
  }),
  (text, tokens) => ({
    ...named,
    modality: 'text',
    choices: [{ index: 0, delta: { content: text }, text, finish_reason: null }],
    usage: usageOf(tokens),
  }),
  (text, tokens) => ({
    ...named,
    choices: [
      {
        index: 0,
        delta: { content: text, reasoning_content: null },
        text,
        logprobs: null,
        token_ids: [tokens],
      },
    ],
    service_tier: null,
    usage: null,
  }),
  (text, tokens) => ({
    ...named,
    prompt_token_ids: null,
    choices: [{ index: 0, delta: { reasoning: null, content: text }, text, stop_reason: null }],
    usage: { ...usageOf(tokens), prompt_tokens_details: null },
    metrics: null,
  }),
  (text, tokens) => ({
    ...named,
    choices: [{ index: 0, delta: { content: text }, text, logprobs: null, finish_reason: null }],
    usage: usageOf(tokens),
    modality: 'text',
    metrics: {},
  }),
];

/** How many orders of its keys a chunk of text comes in. */
const keyOrders = 6;

/**
 * The same value with the keys of its objects in another order. To V8 these are objects of another shape; code that has
 * met more than four of them takes any, and then no server's first chunk makes it compile anew.
 */
function withKeysTurned(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeysTurned(item, by));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withKeysTurned(item, by)] as const);
  const from = entries.length === 0 ? 0 : by % entries.length;
  return Object.fromEntries([...entries.slice(from), ...entries.slice(0, from)]);
}

/** What servers send before and after the content. */
const opening: Chunk = {
  ...named,
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, text: '', finish_reason: null }],
};
const closing: Chunk = { ...named, choices: [{ index: 0, delta: {}, text: '', finish_reason: 'stop' }] };

/** Stage metrics as an omni server sends them at the end; of the values only the types matter. */
const stageMetrics: Chunk = {
  num_tokens_in: 8,
  num_tokens_out: 8,
  stage_id: 0,
  final_output_type: 'text',
  stage_metrics: Object.fromEntries(
    ['thinker', 'talker'].map((name, stage) => [
      String(stage),
      {
        stage_id: stage,
        stage_name: name,
        num_tokens_in: 8,
        num_tokens_out: 8,
        stage_gen_time_ms: 46.7,
        audio_duration_s: 0,
        serving_time_to_first_output_ms: 15.4,
        inter_output_latencies_ms: [18.2, 19.6],
        vllm_ttft_ms: 9.1,
        vllm_itls_ms: [18.2, 19.6],
      },
    ]),
  ),
};

/** The chunks of one reply, in order. */
function cannedReply(textEvents: number): Buffer[] {
  const audio = wavFile().toString('base64');
  const chunks: unknown[] = [opening];
  for (let tokens = 1; tokens <= textEvents; tokens += 1) {
    const variant = Math.floor(((tokens - 1) / textEvents) * textShapes.length * keyOrders);
    const shape = textShapes[variant % textShapes.length];
    if (shape)
      chunks.push(withKeysTurned(shape(` word${tokens}`, tokens), Math.floor(variant / textShapes.length)));
    if (tokens % textPerAudio === 0) {
      chunks.push({
        ...named,
        modality: 'audio',
        choices: [{ index: 0, delta: { content: audio }, finish_reason: null }],
      });
    }
  }
  const last = [
    { ...closing, usage: usageOf(textEvents), metrics: stageMetrics },
    closing,
    { ...named, choices: [], usage: usageOf(textEvents) },
    { ...named, choices: [], usage: usageOf(textEvents), metrics: stageMetrics },
  ];
  for (let by = 0; by < keyOrders; by += 1) chunks.push(...last.map((chunk) => withKeysTurned(chunk, by)));
  const events = chunks.map((chunk) => chunkOf(JSON.stringify(chunk)));
  return [...events, chunkOf('[DONE]'), Buffer.from('0\r\n\r\n', 'latin1')];
}

/**
 * A stand-in for a model server: it answers every request with the same event stream, one write per event and one
 * event per turn of the event loop, so that each arrives as a read of its own.
 */
export class CannedServer {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(server: Server, sockets: Set<Socket>, port: number) {
    this.#server = server;
    this.#sockets = sockets;
    this.url = `http://127.0.0.1:${port}`;
  }

  static listen(textEvents: number): Promise<CannedServer> {
    const reply = cannedReply(textEvents);
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      answerAll(socket, reply);
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        if (address === null || typeof address === 'string')
          throw new Error('the loopback server has no port');
        resolve(new CannedServer(server, sockets, address.port));
      });
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Plays the reply for each request that comes over a connection. */
function answerAll(socket: Socket, reply: readonly Buffer[]): void {
  let head = '';
  let bodyLeft = -1;
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    let left = bytes.length;
    if (bodyLeft < 0) {
      head += bytes.toString('latin1');
      const end = head.indexOf(endOfHead);
      if (end === -1) return;
      bodyLeft = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      left = head.length - end - endOfHead.length;
      head = '';
    }
    bodyLeft -= left;
    if (bodyLeft > 0) return;
    bodyLeft = -1;
    socket.write(replyHead);
    play(socket, reply, 0);
  });
}

function play(socket: Socket, reply: readonly Buffer[], index: number): void {
  const chunk = reply[index];
  if (chunk === undefined || socket.destroyed) return;
  socket.write(chunk);
  setImmediate(play, socket, reply, index + 1);
}
