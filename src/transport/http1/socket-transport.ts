import { nowMs } from '../../foundation/clock.ts';
import type { Dial } from '../dial.ts';
import { Dialer } from '../dial.ts';
import { Exchange, refuse } from '../exchange.ts';
import { proxyRules } from '../proxy-rules.ts';
import { requestHeaders } from '../request-headers.ts';
import { cachedLookup } from '../resolve-host.ts';
import type { Route } from '../route.ts';
import { RouteTable } from '../route.ts';
import type { Ticket } from '../slot-queue.ts';
import { OriginSlots } from '../slot-queue.ts';
import type {
  HttpCall,
  HttpHandler,
  HttpRequest,
  Transport,
  TransportOptions,
  TransportStats,
  WebSocketCall,
  WebSocketHandler,
  WebSocketRequest,
} from '../transport.ts';
import { WebSocketClient } from '../web-socket-client.ts';
import type { ConnectionOwner } from './connection.ts';
import { Connection } from './connection.ts';
import { IdleConnections } from './idle-connections.ts';
import { ReadQueue } from './read-queue.ts';

/** The request line and headers as they are written, in latin1 characters. */
function headText(method: string, target: string, headers: readonly string[]): string {
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** A request on its way: waiting for a slot, for a connection, or for its reply. */
type Flight = {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly head: string;
  ticket: Ticket | null;
  dial: Dial | null;
  connection: Connection | null;
};

class SocketTransport implements Transport, ConnectionOwner {
  readonly name = 'socket';
  readonly reads = new ReadQueue();
  readonly #options: TransportOptions;
  readonly #routes: RouteTable;
  readonly #dialer: Dialer;
  readonly #idle = new IdleConnections();
  readonly #flights = new Set<Flight>();
  readonly #slots: OriginSlots;
  readonly #stats: TransportStats = { connectionsOpened: 0, connectionsReused: 0, requests: 0 };
  readonly #webSockets: WebSocketClient;
  #closed = false;

  constructor(options: TransportOptions) {
    const { connectTimeoutMs, insecure } = options;
    this.#options = options;
    this.#webSockets = new WebSocketClient(options);
    this.#slots = new OriginSlots(options.maxConnections);
    this.#routes = new RouteTable(proxyRules(options.env));
    this.#dialer = new Dialer({ connectTimeoutMs, insecure, lookup: cachedLookup(nowMs) });
  }

  request(request: HttpRequest, handler: HttpHandler): HttpCall {
    this.#stats.requests += 1;
    const route = this.#routes.find(request.url);
    if ('problem' in route) return refuse(request, handler, 'unsendable', route.problem);
    const headers = requestHeaders(request, route, !this.#options.newConnectionPerRequest);
    if ('problem' in headers) return refuse(request, handler, 'unsendable', headers.problem);
    if (this.#closed) return refuse(request, handler, 'aborted', 'the client is closed');
    const flight: Flight = {
      exchange: new Exchange(
        request,
        handler,
        () => this.#settled(flight),
        () => this.reads.drain(),
      ),
      route,
      head: headText(request.method, route.requestTarget, headers),
      ticket: null,
      dial: null,
      connection: null,
    };
    this.#flights.add(flight);
    flight.ticket = this.#slots.take(route.originKey, () => this.#start(flight));
    return { abort: () => flight.exchange.failSoon('aborted', 'the exchange was aborted') };
  }

  openWebSocket(request: WebSocketRequest, handler: WebSocketHandler): WebSocketCall {
    return this.#webSockets.open(request, handler);
  }

  stats(): TransportStats {
    const { connectionsOpened, requests } = this.#stats;
    const { opened } = this.#webSockets;
    return { ...this.#stats, connectionsOpened: connectionsOpened + opened, requests: requests + opened };
  }

  close(): void {
    this.#closed = true;
    this.#webSockets.close();
    for (const flight of [...this.#flights]) flight.exchange.failSoon('aborted', 'the client was closed');
    this.#idle.closeAll();
  }

  onIdle(connection: Connection): void {
    if (this.#closed) connection.close();
    else this.#idle.add(connection);
  }

  onClosed(connection: Connection): void {
    this.#idle.remove(connection);
  }

  #start(flight: Flight): void {
    const { exchange, route } = flight;
    exchange.start();
    const connection = this.#idle.take(route.originKey, exchange.sendMs);
    if (connection === null) {
      this.#open(flight);
      return;
    }
    this.#stats.connectionsReused += 1;
    exchange.connectedMs = exchange.sendMs;
    exchange.connectionReused = true;
    flight.connection = connection;
    connection.send(exchange, flight.head, () => this.#open(flight));
  }

  /** Sends on a fresh connection: where none was idle, or in place of one that was closed when it was reused. */
  #open(flight: Flight): void {
    const { exchange, route } = flight;
    const mayReuse = !this.#options.newConnectionPerRequest;
    const connection = new Connection(route.originKey, this, mayReuse);
    const isPlain = !(route.secure || route.proxy?.secure);
    exchange.connectionReused = false;
    exchange.connectedMs = null;
    flight.connection = null;
    flight.dial = this.#dialer.dial(route, isPlain ? connection.onread : null, (socket, problem) => {
      flight.dial = null;
      if (socket === null) {
        exchange.fail('connect', problem);
        return;
      }
      this.#stats.connectionsOpened += 1;
      exchange.connectedMs = nowMs();
      connection.attach(socket, isPlain);
      flight.connection = connection;
      connection.send(exchange, flight.head, null);
    });
  }

  #settled(flight: Flight): void {
    this.#flights.delete(flight);
    flight.dial?.cancel();
    flight.connection?.closeIfCarrying(flight.exchange);
    if (flight.ticket !== null) this.#slots.release(flight.route.originKey, flight.ticket);
  }
}

/**
 * The streaming client of this project: HTTP/1.1 over `node:net` and `node:tls`. All reads of a turn of the event loop
 * are stamped before any of their bytes are looked at, and nothing but the handler's own work is done per event.
 */
export function socketTransport(options: TransportOptions): Transport {
  return new SocketTransport(options);
}
