import type { LookupFunction, OnReadOpts, Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { messageOf } from '../foundation/errors.ts';
import { longestTimerMs } from '../foundation/longest-timer.ts';
import { openTunnel } from './proxy-tunnel.ts';
import type { Route } from './route.ts';

/** What to do about errors that do not say so themselves. */
const hints: Readonly<Record<string, string>> = {
  EMFILE: 'the process has no file descriptor left: raise `ulimit -n` or lower the concurrency',
  EADDRNOTAVAIL: 'no local port is left: reuse connections or lower the concurrency',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'trust it through NODE_EXTRA_CA_CERTS, or pass --insecure',
  SELF_SIGNED_CERT_IN_CHAIN: 'trust it through NODE_EXTRA_CA_CERTS, or pass --insecure',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'trust its issuer through NODE_EXTRA_CA_CERTS, or pass --insecure',
  ERR_TLS_CERT_ALTNAME_INVALID: 'use a name that the certificate is for, or pass --insecure',
  CERT_HAS_EXPIRED: 'renew it, or pass --insecure',
  ERR_SSL_WRONG_VERSION_NUMBER: 'there is no TLS on this port: is it an http:// URL?',
};

/** Silence after which the kernel begins to ask whether the other side is still there, ms. */
const keepAliveMs = 60_000;

/** A name with several addresses fails with one error for each. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(describe))].join('; ');
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const hint = hints[code];
  return hint === undefined ? messageOf(error) : `${messageOf(error)} (${hint})`;
}

/** `host:port`, an IPv6 address in brackets. */
export function addressOf(place: { host: string; port: number }): string {
  return isIP(place.host) === 6 ? `[${place.host}]:${place.port}` : `${place.host}:${place.port}`;
}

/** Called once: with the open socket, or with `null` and what went wrong. */
export type DialDone = (socket: Socket | null, problem: string) => void;

export type DialOptions = {
  /** ms for everything until the first request byte can be written; 0 = no limit. */
  readonly connectTimeoutMs: number;
  readonly insecure: boolean;
  readonly lookup: LookupFunction;
};

/** Opens connections; holds what all connections of one transport have in common. */
export class Dialer {
  readonly options: DialOptions;
  /** Loading the trusted certificates takes milliseconds: once per transport, not per connection. */
  #secureContext: SecureContext | null = null;

  constructor(options: DialOptions) {
    this.options = options;
  }

  /**
   * Opens a connection on which requests of `route` can be written: TCP, a proxy's tunnel and TLS as needed.
   * @param onread takes the bytes where the connection is plain TCP; connections with TLS emit `data`
   * @param done never called from inside this call
   */
  dial(route: Route, onread: OnReadOpts | null, done: DialDone): Dial {
    return new Dial(this, route, onread, done);
  }

  secureContext(): SecureContext {
    this.#secureContext ??= createSecureContext();
    return this.#secureContext;
  }
}

/** One attempt to connect. */
export class Dial {
  readonly #dialer: Dialer;
  readonly #route: Route;
  readonly #onread: OnReadOpts | null;
  readonly #timer: NodeJS.Timeout | null = null;
  readonly #layers: Socket[] = [];
  #done: DialDone | null;

  constructor(dialer: Dialer, route: Route, onread: OnReadOpts | null, done: DialDone) {
    this.#dialer = dialer;
    this.#route = route;
    this.#onread = onread;
    this.#done = done;
    const limitMs = dialer.options.connectTimeoutMs;
    if (limitMs > 0)
      this.#timer = setTimeout(
        () => this.#fail(`it did not open within ${limitMs} ms`),
        Math.min(limitMs, longestTimerMs),
      );
    const { proxy } = route;
    const first = proxy ?? route;
    if (first.secure) this.#startTls(null, first, (socket) => this.#firstHopOpen(socket));
    else this.#startTcp(first);
  }

  /** Gives up; `done` is not called any more. */
  cancel(): void {
    this.#end();
    for (const layer of this.#layers) layer.destroy();
  }

  #startTcp(to: { host: string; port: number }): void {
    const socket = connectTcp({
      host: to.host,
      port: to.port,
      noDelay: true,
      // A peer that vanished without a word is noticed by the kernel, also where the time limit is hours.
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      lookup: this.#dialer.options.lookup,
      ...(this.#onread === null || this.#route.secure ? {} : { onread: this.#onread }),
    });
    this.#watch(socket, 'connect', () => this.#firstHopOpen(socket));
  }

  #startTls(under: Socket | null, to: { host: string; port: number }, then: (socket: Socket) => void): void {
    const { insecure, lookup } = this.#dialer.options;
    const socket = connectTls({
      ...(under === null ? { port: to.port, lookup } : { socket: under }),
      host: to.host,
      // An address is not allowed as a server name; the certificate is then checked against the address.
      servername: isIP(to.host) === 0 ? to.host : '',
      rejectUnauthorized: !insecure,
      secureContext: this.#dialer.secureContext(),
      ALPNProtocols: ['http/1.1'],
    });
    if (under === null) socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    this.#watch(socket, 'secureConnect', () => then(socket));
  }

  #firstHopOpen(socket: Socket): void {
    const { proxy, secure } = this.#route;
    if (this.#done === null) return;
    if (proxy === null || !secure) {
      this.#succeed(socket);
      return;
    }
    openTunnel(socket, addressOf(this.#route), proxy.authorization, (problem) => {
      if (this.#done === null) return;
      if (problem !== null) this.#fail(problem);
      else this.#startTls(socket, this.#route, (inner) => this.#succeed(inner));
    });
  }

  /** The listeners stay for the socket's life, so that a late error of a lower layer is never unhandled. */
  #watch(socket: Socket, opened: 'connect' | 'secureConnect', then: () => void): void {
    this.#layers.push(socket);
    socket.on('error', (error) => this.#fail(describe(error)));
    socket.on('close', () => this.#fail('the other side closed it'));
    socket.once(opened, then);
  }

  #end(): DialDone | null {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const done = this.#done;
    this.#done = null;
    return done;
  }

  #succeed(socket: Socket): void {
    this.#end()?.(socket, '');
  }

  #fail(problem: string): void {
    const done = this.#end();
    if (done === null) return;
    for (const layer of this.#layers) layer.destroy();
    const { proxy } = this.#route;
    const way = proxy === null ? '' : ` through the proxy ${addressOf(proxy)}`;
    done(null, `no connection to ${addressOf(this.#route)}${way}: ${problem}`);
  }
}
