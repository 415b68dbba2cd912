/** Times and sizes of one HTTP exchange; ms on the process's clock (`foundation/clock.ts`), `null` = did not happen. */
export type ExchangeTimes = {
  readonly method: string;
  readonly url: string;
  /** Just before the request was written to an open connection, or else before a connection was opened for it. */
  readonly sendMs: number;
  /** When the connection was open; equal to `sendMs` where one was reused. */
  readonly connectedMs: number | null;
  readonly connectionReused: boolean;
  /** When the last byte of the headers was read. */
  readonly headersMs: number | null;
  /** When the last byte of the body was read, or the exchange failed. */
  readonly endMs: number | null;
  readonly status: number | null;
  /** Head and body as written, 0 until they are. */
  readonly requestBytes: number;
  /** Everything read of the reply: head, framing and body. */
  readonly responseBytes: number;
};

export type TransportErrorKind =
  /** No connection: refused, no such host, TLS, proxy. */
  | 'connect'
  /** The connection broke before the reply was complete. */
  | 'reset'
  /** The whole-exchange time limit ran out. */
  | 'timeout'
  /** The reply is not HTTP/1.1 as this client reads it. */
  | 'malformed'
  /** Headers or body above the client's limit. */
  | 'limit'
  /** Refused before anything was sent: a URL, method or header that cannot be written. */
  | 'unsendable'
  /** Stopped by {@link HttpCall.abort}. */
  | 'aborted';

/** Why an exchange failed. `bytesReceived` 0 means that no byte of the reply was seen, so a retry is safe. */
export type TransportFailure = {
  readonly kind: TransportErrorKind;
  readonly message: string;
  readonly bytesReceived: number;
};

export type HttpRequest = {
  readonly method: string;
  /** Absolute http(s) URL. */
  readonly url: string;
  /** Sent as given, in order; the transport adds host, content-length, connection and accept-encoding: identity. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Sent with content-length; `null` = no body. May be backed by shared memory. */
  readonly body: Uint8Array | null;
  /** Limit from send to the end of the body, ms; 0 = none. */
  readonly timeoutMs: number;
};

/**
 * Callbacks of one exchange, all called on the event loop, never from inside `request()`.
 * Exactly one of `onEnd` and `onFailure` is called, once, and nothing after it.
 */
export type HttpHandler = {
  /** Header names in lower case; repeated headers joined by ", ". */
  onHeaders(status: number, reason: string, headers: ReadonlyMap<string, string>, timeMs: number): void;
  /**
   * Body bytes after transfer decoding. `bytes` is valid during the call only (its memory is reused).
   * `timeMs` was read when the socket was read, before any parsing.
   */
  onData(bytes: Buffer, timeMs: number): void;
  onEnd(times: ExchangeTimes): void;
  onFailure(failure: TransportFailure, times: ExchangeTimes): void;
};

export type HttpCall = {
  /** Closes the connection; `onFailure` follows with kind `aborted` unless the exchange has ended. */
  abort(): void;
};

export type WebSocketRequest = {
  /** Absolute URL: ws, wss, http or https. */
  readonly url: string;
  /** Sent with the opening request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** ms from the call to the open connection; 0 = the transport's own limit for connecting only. */
  readonly openTimeoutMs: number;
  /** Largest message that is read, bytes. */
  readonly maxMessageBytes: number;
};

/** How a WebSocket ended. */
export type WebSocketEnd =
  /** Either side closed it by the protocol; code 1005 = none was given. */
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  /** The server answered the opening request with something else. */
  | { readonly kind: 'http'; readonly status: number; readonly message: string; readonly body: string }
  | { readonly kind: TransportErrorKind; readonly message: string };

/** Callbacks of one WebSocket, never called from inside `openWebSocket()`. */
export type WebSocketHandler = {
  onOpen(timeMs: number): void;
  /**
   * A text message. `timeMs` was read when the socket was read, before any parsing; messages that one read completed
   * share its time.
   */
  onText(text: string, timeMs: number): void;
  /** A binary message, of which only the length is told: no protocol spoken here has any. */
  onBinary?(bytes: number): void;
  /** Called once, and nothing after it. */
  onEnd(end: WebSocketEnd, times: ExchangeTimes): void;
};

export type WebSocketCall = {
  /** Bytes that were sent and that the kernel has not taken. */
  readonly bufferedBytes: number;
  /** Times and sizes up to now; those at the end once it has ended. */
  times(): ExchangeTimes;
  /** Sends a text message; does nothing where the socket is not open. */
  send(text: string): void;
  /** Closes by the protocol; a server that does not answer is left after a few seconds. */
  close(): void;
  /** Drops the connection; `onEnd` follows with kind `aborted` unless it was called. */
  abort(): void;
};

/** What the transport did so far, for the client's own health figures. */
export type TransportStats = { connectionsOpened: number; connectionsReused: number; requests: number };

export type TransportOptions = {
  /** One connection per request, as the reference client does. */
  readonly newConnectionPerRequest: boolean;
  /** Skip TLS verification. */
  readonly insecure: boolean;
  /** Most connections open at once per origin; `null` = no limit. */
  readonly maxConnections: number | null;
  /** ms to establish a connection (TCP and TLS). */
  readonly connectTimeoutMs: number;
  /** Environment to read proxies from: http_proxy, https_proxy, all_proxy, no_proxy in either case. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Sends HTTP/1.1 requests, opens WebSockets, and reports bytes with the time at which they were read. */
export type Transport = {
  readonly name: string;
  request(request: HttpRequest, handler: HttpHandler): HttpCall;
  openWebSocket(request: WebSocketRequest, handler: WebSocketHandler): WebSocketCall;
  stats(): TransportStats;
  /** Closes idle connections and aborts open exchanges and WebSockets. */
  close(): void;
};
