import type {
  ExchangeTimes,
  HttpCall,
  HttpHandler,
  HttpRequest,
  Transport,
  TransportFailure,
  TransportOptions,
} from '../transport.ts';

export const plainOptions: TransportOptions = {
  newConnectionPerRequest: false,
  insecure: false,
  maxConnections: null,
  connectTimeoutMs: 5000,
  env: {},
};

/** What the cases work with. */
export type SuiteContext = {
  /** A transport of the kind under test; options not given are the plain ones. */
  create(options?: Partial<TransportOptions>): Transport;
};

/** Everything that a handler was told of one exchange. */
export type Observed = {
  status: number | null;
  reason: string | null;
  headers: Record<string, string>;
  body: Buffer;
  readsMs: number[];
  headersMs: number | null;
  times: ExchangeTimes | null;
  failure: TransportFailure | null;
  /** Names of the callbacks in order; runs of `data` are one entry. */
  calls: string[];
};

export type Watched = { call: HttpCall; seen: Observed; done: Promise<Observed> };

/** What to do while the exchange runs. */
export type Hooks = {
  onHeaders?: (call: HttpCall) => void;
  onData?: (call: HttpCall, bytes: Buffer) => void;
};

/** Sends a request and records what comes back; a callback from inside `request()` or after the ending rejects. */
export function watch(
  transport: Transport,
  request: Partial<HttpRequest> & { url: string },
  hooks: Hooks = {},
): Watched {
  const seen: Observed = {
    status: null,
    reason: null,
    headers: {},
    body: Buffer.alloc(0),
    readsMs: [],
    headersMs: null,
    times: null,
    failure: null,
    calls: [],
  };
  const pieces: Buffer[] = [];
  let inside = true;
  let handle: HttpCall | null = null;
  const started = (): HttpCall => {
    if (handle === null) throw new Error('a callback came before request() had returned');
    return handle;
  };
  let settle: (seen: Observed) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const done = new Promise<Observed>((resolve, refuse) => {
    settle = resolve;
    reject = refuse;
  });
  const note = (name: string): void => {
    if (inside) reject(new Error(`${name} was called from inside request()`));
    if (seen.times !== null) reject(new Error(`${name} was called after the ending`));
    if (name !== 'data' || seen.calls.at(-1) !== 'data') seen.calls.push(name);
  };
  const finish = (times: ExchangeTimes): void => {
    seen.times = times;
    seen.body = Buffer.concat(pieces);
    // A second ending would come in the turns after this one.
    setImmediate(() => setImmediate(settle, seen));
  };
  const handler: HttpHandler = {
    onHeaders(status, reason, headers, timeMs) {
      note('headers');
      Object.assign(seen, { status, reason, headers: Object.fromEntries(headers), headersMs: timeMs });
      hooks.onHeaders?.(started());
    },
    onData(bytes, timeMs) {
      note('data');
      pieces.push(Buffer.from(bytes));
      seen.readsMs.push(timeMs);
      hooks.onData?.(started(), bytes);
    },
    onEnd(times) {
      note('end');
      finish(times);
    },
    onFailure(failure, times) {
      note('failure');
      seen.failure = failure;
      finish(times);
    },
  };
  const call = transport.request(
    { method: 'GET', headers: [], body: null, timeoutMs: 0, ...request },
    handler,
  );
  handle = call;
  inside = false;
  return { call, seen, done };
}

/** {@link watch} until it has ended. */
export function fetchOnce(
  transport: Transport,
  request: Partial<HttpRequest> & { url: string },
  hooks: Hooks = {},
): Promise<Observed> {
  return watch(transport, request, hooks).done;
}
