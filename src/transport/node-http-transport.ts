import type { ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http';
import { Agent, request as httpRequest } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nowMs } from '../foundation/clock.ts';
import { messageOf } from '../foundation/errors.ts';
import type { Dial } from './dial.ts';
import { Dialer } from './dial.ts';
import { Exchange, refuse } from './exchange.ts';
import { proxyRules } from './proxy-rules.ts';
import { compressionProblem, maxHeadBytes, transferCodingProblem } from './reply-rules.ts';
import { requestHeaders } from './request-headers.ts';
import { cachedLookup } from './resolve-host.ts';
import type { Route } from './route.ts';
import { RouteTable } from './route.ts';
import type { Ticket } from './slot-queue.ts';
import { OriginSlots } from './slot-queue.ts';
import type {
  HttpCall,
  HttpHandler,
  HttpRequest,
  Transport,
  TransportErrorKind,
  TransportOptions,
  TransportStats,
  WebSocketCall,
  WebSocketHandler,
  WebSocketRequest,
} from './transport.ts';
import { WebSocketClient } from './web-socket-client.ts';

/** A connection that could not be opened; its message is complete. */
class DialError extends Error {}

/** What our agent finds in the options that node hands from a request to its agent. */
type RoutedOptions = ClientRequestArgs & { route?: Route; onDial?: (dial: Dial) => void };

function destroyUnasked(this: Duplex): void {
  this.destroy();
}

/** node's own pool of connections, with connections that our {@link Dialer} opens. */
class DialingAgent extends Agent {
  readonly #dialer: Dialer;
  opened = 0;

  constructor(dialer: Dialer, keepAlive: boolean) {
    super({ keepAlive, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: Number.POSITIVE_INFINITY });
    this.#dialer = dialer;
  }

  override getName(options?: RoutedOptions): string {
    return options?.route?.originKey ?? '';
  }

  override createConnection(
    options: RoutedOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { route } = options;
    if (route === undefined || callback === undefined) throw new Error('a request came without its route');
    const dial = this.#dialer.dial(route, null, (socket, problem) => {
      if (socket !== null) this.opened += 1;
      // node reads the socket only where there is no error.
      callback(socket === null ? new DialError(problem) : null, socket ?? new Socket());
    });
    options.onDial?.(dial);
  }

  /** Bytes that nobody asked for would be taken as the next reply: they end an idle connection. */
  override keepSocketAlive(socket: Duplex): boolean {
    // The declared type says that nothing is returned; node's agent closes the socket where this is not true.
    const kept: unknown = super.keepSocketAlive(socket);
    if (kept === true) socket.on('data', destroyUnasked);
    return kept === true;
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    socket.removeListener('data', destroyUnasked);
    super.reuseSocket(socket, request);
  }

  /** Closes idle connections of one origin. */
  destroyIdle(originKey: string): void {
    for (const socket of [...(this.freeSockets[originKey] ?? [])]) socket.destroy();
  }
}

/** A request on its way. */
type Flight = {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly headers: readonly string[];
  ticket: Ticket | null;
  outgoing: ClientRequest | null;
  dial: Dial | null;
  retried: boolean;
};

class NodeHttpTransport implements Transport {
  readonly name = 'node-http';
  readonly #options: TransportOptions;
  readonly #routes: RouteTable;
  readonly #agent: DialingAgent;
  readonly #slots: OriginSlots;
  readonly #flights = new Set<Flight>();
  #requests = 0;
  #reused = 0;
  readonly #webSockets: WebSocketClient;
  #closed = false;

  constructor(options: TransportOptions) {
    const { connectTimeoutMs, insecure, newConnectionPerRequest } = options;
    this.#options = options;
    this.#webSockets = new WebSocketClient(options);
    this.#routes = new RouteTable(proxyRules(options.env));
    this.#slots = new OriginSlots(options.maxConnections);
    this.#agent = new DialingAgent(
      new Dialer({ connectTimeoutMs, insecure, lookup: cachedLookup(nowMs) }),
      !newConnectionPerRequest,
    );
  }

  request(request: HttpRequest, handler: HttpHandler): HttpCall {
    this.#requests += 1;
    const route = this.#routes.find(request.url);
    if ('problem' in route) return refuse(request, handler, 'unsendable', route.problem);
    const headers = requestHeaders(request, route, !this.#options.newConnectionPerRequest);
    if ('problem' in headers) return refuse(request, handler, 'unsendable', headers.problem);
    if (this.#closed) return refuse(request, handler, 'aborted', 'the client is closed');
    const exchange = new Exchange(request, handler, () => this.#settled(flight));
    const flight: Flight = {
      exchange,
      route,
      headers,
      ticket: null,
      outgoing: null,
      dial: null,
      retried: false,
    };
    this.#flights.add(flight);
    flight.ticket = this.#slots.take(route.originKey, () => {
      exchange.start();
      this.#send(flight);
    });
    return { abort: () => exchange.failSoon('aborted', 'the exchange was aborted') };
  }

  openWebSocket(request: WebSocketRequest, handler: WebSocketHandler): WebSocketCall {
    return this.#webSockets.open(request, handler);
  }

  stats(): TransportStats {
    const { opened } = this.#webSockets;
    return {
      connectionsOpened: this.#agent.opened + opened,
      connectionsReused: this.#reused,
      requests: this.#requests + opened,
    };
  }

  close(): void {
    this.#closed = true;
    this.#webSockets.close();
    for (const flight of [...this.#flights]) flight.exchange.failSoon('aborted', 'the client was closed');
    this.#agent.destroy();
  }

  #send(flight: Flight): void {
    const { exchange, route } = flight;
    const { method, body } = exchange.request;
    const options: RoutedOptions = {
      agent: this.#agent,
      method,
      path: route.requestTarget,
      // In this form node sends them as they are and adds none of its own.
      headers: flight.headers,
      maxHeaderSize: maxHeadBytes,
      route,
      onDial: (dial) => {
        flight.dial = dial;
      },
    };
    const outgoing = httpRequest(options);
    flight.outgoing = outgoing;
    outgoing.maxHeadersCount = 0;
    outgoing.on('socket', (socket) => this.#onSocket(flight, outgoing, socket));
    outgoing.on('response', (reply) => this.#onReply(flight, outgoing, reply));
    outgoing.on('upgrade', (_reply, socket) => {
      socket.destroy();
      exchange.fail('malformed', 'the server switched protocols without being asked to');
    });
    outgoing.on('error', (error) => this.#onBroken(flight, outgoing, error));
    outgoing.on('close', () => this.#onBroken(flight, outgoing, null));
    outgoing.end(body ?? undefined);
  }

  #onSocket(flight: Flight, outgoing: ClientRequest, socket: Socket): void {
    const { exchange } = flight;
    if (flight.outgoing !== outgoing) return;
    flight.dial = null;
    if (outgoing.reusedSocket) this.#reused += 1;
    exchange.connectionReused = outgoing.reusedSocket;
    exchange.connectedMs = outgoing.reusedSocket ? exchange.sendMs : nowMs();
    exchange.countOn(socket);
  }

  #onReply(flight: Flight, outgoing: ClientRequest, reply: IncomingMessage): void {
    const headersMs = nowMs();
    const { exchange } = flight;
    if (flight.outgoing !== outgoing) return;
    const headers = joinedHeaders(reply.rawHeaders);
    const status = reply.statusCode ?? 0;
    exchange.head(status, reply.statusMessage ?? '', headers, headersMs);
    const problem = codingProblem(exchange.request.method, status, headers);
    if (problem !== null) exchange.fail('malformed', problem);
    reply.on('data', (bytes: Buffer) => {
      const timeMs = nowMs();
      if (flight.outgoing === outgoing) exchange.data(bytes, timeMs);
    });
    reply.on('error', (error) => this.#onBroken(flight, outgoing, error));
    reply.on('end', () => {
      const timeMs = nowMs();
      if (flight.outgoing !== outgoing) return;
      flight.outgoing = null;
      // node puts the connection back into its pool one tick later; a request made at the end can then reuse it.
      process.nextTick(() => exchange.end(timeMs));
    });
  }

  /** @param error `null` = closed without one */
  #onBroken(flight: Flight, outgoing: ClientRequest, error: Error | null): void {
    const { exchange, route } = flight;
    if (flight.outgoing !== outgoing) return;
    if (error instanceof DialError) {
      exchange.fail('connect', error.message);
      return;
    }
    exchange.count();
    const kind = kindOf(error);
    if (kind === 'reset' && outgoing.reusedSocket && exchange.responseBytes === 0 && !flight.retried) {
      flight.retried = true;
      flight.outgoing = null;
      outgoing.destroy();
      // The others were left alone at least as long.
      this.#agent.destroyIdle(route.originKey);
      this.#send(flight);
      return;
    }
    exchange.fail(kind, problemText(kind, error, exchange));
  }

  #settled(flight: Flight): void {
    const { outgoing, ticket, dial } = flight;
    this.#flights.delete(flight);
    flight.outgoing = null;
    outgoing?.destroy();
    dial?.cancel();
    if (ticket !== null) this.#slots.release(flight.route.originKey, ticket);
  }
}

/** All headers with equal names joined; node's own object drops some of them. */
function joinedHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    const value = raw[i + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

function codingProblem(method: string, status: number, headers: ReadonlyMap<string, string>): string | null {
  const bodiless = method === 'HEAD' || status === 204 || status === 304;
  if (bodiless || headers.get('content-length') === '0') return null;
  return transferCodingProblem(headers) ?? compressionProblem(headers);
}

function kindOf(error: Error | null): TransportErrorKind {
  const code = error !== null && 'code' in error ? String(error.code) : '';
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'limit';
  if (code === 'HPE_INVALID_EOF_STATE') return 'reset';
  return code.startsWith('HPE_') ? 'malformed' : 'reset';
}

function problemText(kind: TransportErrorKind, error: Error | null, exchange: Exchange): string {
  const said = error === null ? '' : `: ${messageOf(error)}`;
  if (kind === 'limit') return `the headers of the reply are longer than ${maxHeadBytes} bytes${said}`;
  if (kind === 'malformed') return `the reply is not HTTP/1.1${said}`;
  const where =
    exchange.headersMs === null ? "before the reply's headers" : "before the end of the reply's body";
  return `the connection closed ${where}${said}`;
}

/** The conservative client: `node:http` with the same semantics as the socket transport, and its oracle in tests. */
export function nodeHttpTransport(options: TransportOptions): Transport {
  return new NodeHttpTransport(options);
}
