import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { nowMs } from '../foundation/clock.ts';
import { messageOf } from '../foundation/errors.ts';
import { longestTimerMs } from '../foundation/longest-timer.ts';
import { addressOf, type Dial, Dialer } from './dial.ts';
import { proxyRules } from './proxy-rules.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { headerProblem, wireValue } from './request-headers.ts';
import { cachedLookup } from './resolve-host.ts';
import { type Route, RouteTable } from './route.ts';
import type {
  ExchangeTimes,
  TransportOptions,
  WebSocketCall,
  WebSocketEnd,
  WebSocketHandler,
  WebSocketRequest,
} from './transport.ts';

/** Most of a refusal's body that is kept, bytes. */
const proofBytes = 16 * 1024;
/** How long a server may take to answer a close, ms. */
const closeTimeoutMs = 5000;

/** Opens WebSockets over connections of a {@link Dialer}, so that TLS and proxies are those of HTTP requests. */
export class WebSocketClient {
  readonly #routes: RouteTable;
  readonly #dialer: Dialer;
  readonly #open = new Set<Link>();
  #closed = false;
  opened = 0;

  constructor({ connectTimeoutMs, insecure, env }: TransportOptions) {
    this.#routes = new RouteTable(proxyRules(env));
    this.#dialer = new Dialer({ connectTimeoutMs, insecure, lookup: cachedLookup(nowMs) });
  }

  open(request: WebSocketRequest, handler: WebSocketHandler): WebSocketCall {
    const link: Link = new Link(request, handler, () => this.#open.delete(link));
    const route = this.#routes.find(request.url.replace(/^ws(s?):/i, 'http$1:'));
    const headers = openingHeaders(request, route);
    if (this.#closed) link.endSoon({ kind: 'aborted', message: 'the client is closed' });
    else if ('problem' in route) link.endSoon({ kind: 'unsendable', message: route.problem });
    else if (typeof headers === 'string') link.endSoon({ kind: 'unsendable', message: headers });
    else {
      this.#open.add(link);
      link.dial(this.#dialer, route, headers, () => {
        this.opened += 1;
      });
    }
    return link;
  }

  /** Drops all connections. */
  close(): void {
    this.#closed = true;
    for (const link of [...this.#open]) link.endSoon({ kind: 'aborted', message: 'the client was closed' });
  }
}

/** @returns the headers, or what keeps one of them from being sent */
function openingHeaders(
  request: WebSocketRequest,
  route: Route | { problem: string },
): Record<string, string> | string {
  const headers: Record<string, string> = {};
  if ('problem' in route) return headers;
  headers.host = route.hostHeader;
  if (route.authorization !== null) headers.authorization = route.authorization;
  for (const [name, value] of request.headers) {
    const problem = headerProblem(name, value);
    if (problem !== null) return problem;
    headers[name.toLowerCase()] = wireValue(value);
  }
  return headers;
}

/** One WebSocket from the first dial to its end. */
class Link implements WebSocketCall {
  readonly #request: WebSocketRequest;
  readonly #handler: WebSocketHandler;
  readonly #onSettled: () => void;
  readonly #sendMs = nowMs();
  #connectedMs: number | null = null;
  #openMs: number | null = null;
  #status: number | null = null;
  #dial: Dial | null = null;
  #socket: Socket | null = null;
  #ws: WebSocket | null = null;
  /** When the bytes that are being parsed were read. */
  #readMs = 0;
  #openTimer: NodeJS.Timeout | null = null;
  #closeTimer: NodeJS.Timeout | null = null;
  #ended = false;
  #final: ExchangeTimes | null = null;

  constructor(request: WebSocketRequest, handler: WebSocketHandler, onSettled: () => void) {
    this.#request = request;
    this.#handler = handler;
    this.#onSettled = onSettled;
    const limitMs = request.openTimeoutMs;
    if (limitMs > 0)
      this.#openTimer = setTimeout(
        () => this.#end({ kind: 'timeout', message: `the WebSocket did not open within ${limitMs} ms` }),
        Math.min(limitMs, longestTimerMs),
      );
  }

  get bufferedBytes(): number {
    return this.#ws?.bufferedAmount ?? 0;
  }

  times(): ExchangeTimes {
    if (this.#final !== null) return this.#final;
    return {
      method: 'GET',
      url: this.#request.url,
      sendMs: this.#sendMs,
      connectedMs: this.#connectedMs,
      connectionReused: false,
      headersMs: this.#openMs,
      endMs: nowMs(),
      status: this.#status,
      requestBytes: this.#socket?.bytesWritten ?? 0,
      responseBytes: this.#socket?.bytesRead ?? 0,
    };
  }

  dial(dialer: Dialer, route: Route, headers: Record<string, string>, onConnected: () => void): void {
    this.#dial = dialer.dial(route, null, (socket, problem) => {
      this.#dial = null;
      if (socket === null) {
        this.#end({ kind: 'connect', message: problem });
        return;
      }
      this.#socket = socket;
      onConnected();
      this.#throughProxy(socket, route, () => {
        this.#connectedMs = nowMs();
        this.#upgrade(socket, route, headers);
      });
    });
  }

  send(text: string): void {
    if (this.#ended || this.#ws?.readyState !== WebSocket.OPEN) return;
    this.#ws.send(text, ignoreResult);
  }

  close(): void {
    const ws = this.#ws;
    if (this.#ended || ws?.readyState !== WebSocket.OPEN) {
      this.endSoon({ kind: 'aborted', message: 'the WebSocket was closed before it was open' });
      return;
    }
    ws.close(1000);
    this.#closeTimer ??= setTimeout(
      () => this.#end({ kind: 'closed', code: 1000, reason: 'the server did not answer the close' }),
      closeTimeoutMs,
    ).unref();
  }

  abort(): void {
    this.endSoon({ kind: 'aborted', message: 'the WebSocket was aborted' });
  }

  /** Ends it in a turn of its own: callers are not called back from inside their call. */
  endSoon(end: WebSocketEnd): void {
    if (this.#ended) return;
    // A zombie must not go on reading meanwhile.
    this.#socket?.pause();
    setImmediate(() => this.#end(end));
  }

  /** Plain HTTP goes through a proxy as it is, a WebSocket only through a tunnel. */
  #throughProxy(socket: Socket, { proxy, secure, host, port }: Route, then: () => void): void {
    if (proxy === null || secure) {
      then();
      return;
    }
    openTunnel(socket, addressOf({ host, port }), proxy.authorization, (problem) => {
      if (this.#ended) return;
      if (problem === null) {
        // The tunnel's reader left it paused; a server says nothing before it is asked.
        socket.resume();
        then();
      } else this.#end({ kind: 'connect', message: problem });
    });
  }

  #upgrade(socket: Socket, route: Route, headers: Record<string, string>): void {
    const { pathname, search } = new URL(this.#request.url);
    // TLS is the socket's own matter by now.
    const ws = new WebSocket(`ws://${route.hostHeader}${pathname}${search}`, {
      headers,
      maxPayload: this.#request.maxMessageBytes,
      perMessageDeflate: false,
      createConnection: () => socket,
    });
    this.#ws = ws;
    ws.on('open', () => {
      this.#openMs = nowMs();
      this.#status = 101;
      this.#stopOpenTimer();
      // Before the parser's own listener: what is stamped is the read, not the message.
      socket.prependListener('data', () => {
        this.#readMs = nowMs();
      });
      this.#handler.onOpen(this.#openMs);
    });
    ws.on('message', (data, isBinary) => {
      if (this.#ended) return;
      if (isBinary) this.#handler.onBinary?.(Array.isArray(data) ? 0 : data.byteLength);
      else this.#handler.onText(data.toString(), this.#readMs);
    });
    ws.on('unexpected-response', (_request, response) => this.#refused(response));
    ws.on('error', (error) => this.#end(failureOf(error, this.#openMs !== null)));
    ws.on('close', (code, reason) =>
      this.#end(
        code === 1006
          ? { kind: 'reset', message: 'the connection broke without a closing handshake' }
          : { kind: 'closed', code, reason: reason.toString() },
      ),
    );
  }

  #refused(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    this.#status = status;
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (): void => {
      const body = Buffer.concat(chunks).subarray(0, proofBytes).toString('utf8');
      const said = `HTTP ${status} ${response.statusMessage ?? ''}`.trimEnd();
      this.#end({ kind: 'http', status, body, message: body === '' ? said : `${said}: ${body}` });
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= proofBytes) done();
    });
    response.on('end', done);
    response.on('close', done);
    response.on('error', done);
  }

  #stopOpenTimer(): void {
    if (this.#openTimer !== null) clearTimeout(this.#openTimer);
    this.#openTimer = null;
  }

  #end(end: WebSocketEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopOpenTimer();
    if (this.#closeTimer !== null) clearTimeout(this.#closeTimer);
    this.#dial?.cancel();
    const times = this.times();
    this.#final = times;
    this.#ws?.on('error', ignoreResult);
    this.#ws?.terminate();
    this.#socket?.destroy();
    this.#onSettled();
    this.#handler.onEnd(end, times);
  }
}

/** What cannot be sent or fails late is told by `close`. */
function ignoreResult(): void {}

function failureOf(error: Error, wasOpen: boolean): WebSocketEnd {
  const code = 'code' in error ? String(error.code) : '';
  const message = messageOf(error);
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'HPE_HEADER_OVERFLOW')
    return { kind: 'limit', message: `the server sent more than this client reads: ${message}` };
  if (code.startsWith('WS_ERR_') || code.startsWith('HPE_'))
    return { kind: 'malformed', message: `the server does not keep to the WebSocket protocol: ${message}` };
  if (/^(Invalid|Server (sent|indicated))/.test(message))
    return { kind: 'malformed', message: `the server's answer opens no WebSocket: ${message}` };
  const where = wasOpen ? 'in the middle of the session' : 'before the WebSocket was open';
  return { kind: 'reset', message: `the connection broke ${where}: ${message}` };
}
