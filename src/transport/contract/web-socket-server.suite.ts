import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** The server's end of one WebSocket. */
export type WsPeer = { readonly socket: WebSocket; readonly request: IncomingMessage };

/** A WebSocket server on the loopback that does exactly what its script says for each connection. */
export class WsStand {
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly peers: WsPeer[] = [];

  private constructor(server: Server, sockets: WebSocketServer) {
    this.#server = server;
    this.#sockets = sockets;
  }

  /** @param refuse answers the opening request in place of the upgrade */
  static async start(
    play: (peer: WsPeer) => void,
    refuse?: (request: IncomingMessage) => string | null,
  ): Promise<WsStand> {
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 * 1024 });
    const stand = new WsStand(server, sockets);
    server.on('upgrade', (request, socket, head) => {
      const refusal = refuse?.(request) ?? null;
      if (refusal !== null) {
        socket.end(refusal);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on('error', () => {});
        const peer = { socket: opened, request };
        stand.peers.push(peer);
        play(peer);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return stand;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const { socket } of this.peers) socket.terminate();
    this.#sockets.close();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
