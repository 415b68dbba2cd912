import type { Socket } from 'node:net';

/** A proxy's answer to CONNECT is a few lines. */
const maxAnswerBytes = 64 * 1024;

function problemOf(answer: string, rest: number): string | null {
  const status = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?/.exec(answer);
  if (status === null)
    return `the proxy's answer to CONNECT is not HTTP: ${JSON.stringify(answer.slice(0, 80))}`;
  if (!/^2/.test(status[1] ?? '')) {
    return `the proxy refused the tunnel: ${status[1]} ${status[2] ?? ''}`.trimEnd();
  }
  return rest > 0 ? 'the proxy sent bytes of its own into the tunnel' : null;
}

/**
 * Asks a forward proxy for a tunnel (CONNECT, RFC 9110 §9.3.6).
 * @param authority `host:port` of the server behind it
 * @param done `null` once the tunnel is open, else what went wrong; not called if the socket closes first
 */
export function openTunnel(
  socket: Socket,
  authority: string,
  authorization: string | null,
  done: (problem: string | null) => void,
): void {
  let answer = Buffer.alloc(0);
  const onData = (bytes: Buffer): void => {
    answer = Buffer.concat([answer, bytes]);
    const end = answer.indexOf('\r\n\r\n');
    if (end === -1 && answer.length <= maxAnswerBytes) return;
    socket.removeListener('data', onData);
    socket.pause();
    if (end === -1) done('the proxy answered CONNECT with endless headers');
    else done(problemOf(answer.toString('latin1', 0, end), answer.length - end - 4));
  };
  socket.on('data', onData);
  const credentials = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`, 'latin1');
}
