import type { IncomingMessage, Server } from 'node:http';
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

/**
 * Lets a server decline offers of protocols other than WebSocket, as RFC 9110 §7.8 has it: the request is answered as
 * if the offer were not there. Node takes any offer for accepted, once anybody listens for upgrades; clients of Java
 * and `curl --http2` offer HTTP/2 with every request. To be called once all listeners for upgrades are there.
 */
export function declineOtherUpgrades(server: Server): void {
  const accepting = server.listeners('upgrade');
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, rest: Buffer) => {
    if (isWebSocket(request)) {
      for (const listener of accepting) Reflect.apply(listener, server, [request, socket, rest]);
      return;
    }
    if (rest.length > 0) socket.unshift(rest);
    socket.unshift(Buffer.from(headWithoutOffer(request), 'latin1'));
    server.emit('connection', socket);
  });
}
