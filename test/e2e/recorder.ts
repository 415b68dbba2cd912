import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request as it came over the wire. */
export type Recorded = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  /** The body as JSON; empty where it is none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
};

export type Recorder = {
  readonly port: number;
  readonly url: string;
  /** In order of arrival. */
  readonly requests: Recorded[];
  /** Those that ask for a generation. */
  generations(): Recorded[];
  close(): Promise<void>;
};

/** Answers a request in place of the recorder; `false` leaves it to the recorder. */
export type Answer = (request: Recorded, response: ServerResponse) => boolean;

const choice = {
  index: 0,
  delta: { role: 'assistant', content: 'word' },
  text: 'word',
  message: { content: 'word' },
};
const usage = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 };

function answerGeneration({ body }: Recorded, response: ServerResponse): void {
  if (body.stream === false) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'r', choices: [{ ...choice, finish_reason: 'stop' }], usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  response.write(`data: ${JSON.stringify({ id: 'r', choices: [choice] })}\n\n`);
  response.end(`data: ${JSON.stringify({ id: 'r', choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

function answerPlainly(request: Recorded, response: ServerResponse): void {
  if (request.url.endsWith('/v1/models')) {
    response.setHeader('content-type', 'application/json');
    response.end('{"object":"list","data":[{"id":"first","root":"org/first"},{"id":"second"}]}');
  } else if (request.url.endsWith('completions')) answerGeneration(request, response);
  else response.end('ok');
}

async function read(message: IncomingMessage): Promise<Recorded> {
  const atMs = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks).toString('utf8');
  const { method = '', url = '', headers } = message;
  return { method, url, headers, rawBody, body: rawBody.startsWith('{') ? JSON.parse(rawBody) : {}, atMs };
}

/** A small model server that writes down everything it is asked; every reply is one word. */
export async function startRecorder(
  options: {
    readonly answer?: Answer;
    readonly tls?: { readonly key: string; readonly cert: string };
    readonly port?: number;
  } = {},
): Promise<Recorder> {
  const requests: Recorded[] = [];
  const listener: RequestListener = (message, response) => {
    void read(message).then((request) => {
      requests.push(request);
      if (options.answer?.(request, response) !== true) answerPlainly(request, response);
    });
  };
  const server: Server = options.tls ? createSecureServer(options.tls, listener) : createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    generations: () => requests.filter(({ url }) => url.endsWith('completions')),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Flags of a short run of `bench serve` against a server; `flags` come last and so win.
 * @param tokenizer whether to load one, which takes a third of such a run
 */
export function benchFlags(
  url: string,
  flags: readonly string[],
  { tokenizer = false }: { readonly tokenizer?: boolean } = {},
): string[] {
  return [
    ...['bench', 'serve', '--base-url', url, '--dataset-name', 'random'],
    ...(tokenizer ? [] : ['--skip-tokenizer-init']),
    ...['--random-input-len', '4', '--random-output-len', '3', ...flags],
  ];
}

/** Runs `use` with a recorder of its own. */
export async function withRecorder<T>(
  use: (recorder: Recorder) => Promise<T>,
  options: Parameters<typeof startRecorder>[0] = {},
): Promise<T> {
  const recorder = await startRecorder(options);
  try {
    return await use(recorder);
  } finally {
    await recorder.close();
  }
}
