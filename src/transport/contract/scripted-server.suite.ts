import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';

const fixture = (name: string): Buffer => readFileSync(new URL(`./__fixtures__/${name}`, import.meta.url));

/** A request as it stood on the wire. */
export type WireRequest = { readonly head: string; readonly lines: readonly string[]; readonly body: Buffer };

/** The server's end of one connection: reads whole requests and writes exactly the bytes it is told to. */
export class Peer {
  readonly socket: Socket;
  readonly number: number;
  #bytes = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  constructor(socket: Socket, number: number) {
    this.socket = socket;
    this.number = number;
    socket.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** The next request with its body; `null` once the client has closed. */
  async request(): Promise<WireRequest | null> {
    const headEnd = await this.#until(() => this.#bytes.indexOf('\r\n\r\n'));
    if (headEnd === -1) return null;
    const head = this.#bytes.toString('latin1', 0, headEnd);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const bodyStart = headEnd + 4;
    const whole = await this.#until(() => (this.#bytes.length >= bodyStart + length ? 1 : -1));
    if (whole === -1) return null;
    const body = Buffer.from(this.#bytes.subarray(bodyStart, bodyStart + length));
    this.#bytes = this.#bytes.subarray(bodyStart + length);
    return { head, lines: head.split('\r\n'), body };
  }

  /** Resolves once the client has closed its end. */
  async closed(): Promise<void> {
    while (!this.#ended) await this.#arrival();
  }

  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes pieces such that each is a read of its own at the client, which runs on the same event loop. */
  async writePieces(pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      this.write(piece);
      await nextTurn();
      await nextTurn();
    }
  }

  end(): void {
    this.socket.end();
  }

  /** Breaks the connection: the client sees a reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #until(find: () => number): Promise<number> {
    for (;;) {
      const found = find();
      if (found !== -1 || this.#ended) return found;
      await this.#arrival();
    }
  }
}

export type Script = (peer: Peer) => Promise<void> | void;

export type ScriptedServer = {
  readonly port: number;
  /** Without a trailing slash. */
  readonly url: string;
  /** Connections accepted so far. */
  connections(): number;
  /** Server names that TLS clients asked for; `null` = none. */
  readonly serverNames: readonly (string | null)[];
  close(): Promise<void>;
};

/** A raw server that runs a script per connection. */
export function scriptedServer(
  script: Script,
  options: { tls?: boolean; host?: string } = {},
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const serverNames: (string | null)[] = [];
  let accepted = 0;
  const onConnection = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    accepted += 1;
    void script(new Peer(socket, accepted));
  };
  const certified = { cert: fixture('localhost-cert.pem'), key: fixture('test-only-key.pem') };
  const server: Server = options.tls
    ? createTlsServer(certified, (socket) => {
        serverNames.push(
          'servername' in socket && typeof socket.servername === 'string' ? socket.servername : null,
        );
        onConnection(socket);
      })
    : createServer({ allowHalfOpen: true }, onConnection);
  if (options.tls) server.on('tlsClientError', () => {});
  const host = options.host ?? '127.0.0.1';
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host, backlog: 4096 }, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('the server has no port');
      const { port } = address;
      const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      resolve({
        port,
        url: `${options.tls ? 'https' : 'http'}://${authority}`,
        connections: () => accepted,
        serverNames,
        close: () => {
          for (const socket of sockets) socket.destroy();
          return new Promise((done) => server.close(() => done()));
        },
      });
    });
  });
}

/** A script that answers each request of a connection with the same bytes. */
export function answering(reply: string | Buffer): Script {
  return async (peer) => {
    while ((await peer.request()) !== null) peer.write(reply);
  };
}
