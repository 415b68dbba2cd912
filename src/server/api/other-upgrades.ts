import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Headers of an offer to change the protocol, and what `Connection` says of them. */
const offerHeaders = ['upgrade', 'http2-settings'];

function isWebSocket(request: IncomingMessage): boolean {
  return /^websocket$/i.test(request.headers.upgrade ?? '');
}

/** The head of a request as it would be without the offer. */
function headWithoutOffer(request: IncomingMessage): string {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? '';
    const value = request.rawHeaders[at + 1] ?? '';
    const lower = name.toLowerCase();
    if (offerHeaders.includes(lower)) continue;
    const kept =
      lower === 'connection'
        ? value.split(',').filter((token) => !offerHeaders.includes(token.trim().toLowerCase()))
        : [value];
    if (kept.length > 0) lines.push(`${name}: ${kept.join(',').trim()}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Counts the replies of each connection that are still open. @returns calls back once a connection has none */
function openReplies(server: Server): (socket: Duplex, callback: () => void) => void {
  const open = new WeakMap<Duplex, number>();
  const waiting = new WeakMap<Duplex, () => void>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    open.set(socket, (open.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (open.get(socket) ?? 1) - 1;
      open.set(socket, left);
      if (left > 0) return;
      const callback = waiting.get(socket);
      waiting.delete(socket);
      callback?.();
    });
  });
  return (socket, callback) => {
    if ((open.get(socket) ?? 0) === 0) callback();
    else waiting.set(socket, callback);
  };
}

function ignoreError(): void {}

/**
 * Lets a server decline offers of protocols other than WebSocket, as RFC 9110 §7.8 has it: the request is answered as
 * if the offer were not there. Node takes any offer for accepted, once anybody listens for upgrades; clients of Java
 * and `curl --http2` offer HTTP/2 with every request. To be called once all listeners for upgrades are there.
 */
export function declineOtherUpgrades(server: Server): void {
  const accepting = server.listeners('upgrade');
  server.removeAllListeners('upgrade');
  const whenAnswered = openReplies(server);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, rest: Buffer) => {
    if (isWebSocket(request)) {
      for (const listener of accepting) Reflect.apply(listener, server, [request, socket, rest]);
      return;
    }
    // A request that came behind others has its turn when they are answered; until then nobody listens to the socket.
    socket.on('error', ignoreError);
    whenAnswered(socket, () => {
      socket.off('error', ignoreError);
      if (socket.destroyed) return;
      if (rest.length > 0) socket.unshift(rest);
      socket.unshift(Buffer.from(headWithoutOffer(request), 'latin1'));
      server.emit('connection', socket);
    });
  });
}
