import { ProxyError } from './proxy-error.ts';
import type { ProxyOptions } from './proxy-options.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a remote server answered, its body still to be read. */
export type RemoteReply = { readonly headers: Headers; readonly body: AsyncIterable<Uint8Array> };

type Sent = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly json?: unknown;
  readonly form?: FormData;
};

/** Calls a remote server. @throws ProxyError for a refusal, and what the connection throws */
export type RemoteCall = (path: string, sent?: Sent) => Promise<RemoteReply>;

const mostErrorBytes = 64 * 1024;

async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    length += piece.length;
    if (length >= mostErrorBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The body of a request and its type. */
async function encoded({ json, form }: Sent): Promise<{ type: string; body: Buffer | string } | null> {
  if (json !== undefined) return { type: 'application/json', body: JSON.stringify(json) };
  if (form === undefined) return null;
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? 'multipart/form-data';
  return { type, body: Buffer.from(await response.arrayBuffer()) };
}

/** Calls of one request, all of which end with its signal. */
export function remoteCall(options: ProxyOptions, signal: AbortSignal): RemoteCall {
  return async (path, sent = {}) => {
    // Loaded with the first request: most servers have no such stage.
    const { request: send } = await import('undici');
    const content = await encoded(sent);
    const { statusCode, headers, body } = await send(`${options.origin}${path}`, {
      method: sent.method ?? 'POST',
      headers: {
        accept: '*/*',
        ...options.headers,
        ...(content === null ? {} : { 'content-type': content.type }),
      },
      ...(content === null ? {} : { body: content.body }),
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      signal,
    });
    if (statusCode < 200 || statusCode > 299) throw ProxyError.fromBody(await beginningOf(body), statusCode);
    return { headers, body };
  };
}

/** A body whole. @throws ProxyError where it is larger than any that is meant */
export async function wholeBody({ body }: RemoteReply, mostBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > mostBytes)
      throw new ProxyError(502, `The remote server answered with more than ${mostBytes} bytes.`);
  }
  return Buffer.concat(pieces);
}

/** A body that is JSON. @throws ProxyError where it is not */
export async function jsonBody(reply: RemoteReply, mostBytes: number): Promise<unknown> {
  const text = (await wholeBody(reply, mostBytes)).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw new ProxyError(502, `The remote server answered with what is not JSON: ${text.slice(0, 200)}`);
  }
}
