import type { Socket } from 'node:net';
import { RequestError } from './request-error.ts';

const statusByCode: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large'],
};

/** Says why to a client whose bytes are no HTTP request, and closes the connection: what follows cannot be read. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] = statusByCode[error.code ?? ''] ?? [400, 'Bad Request'];
  const said =
    status === 408
      ? 'The request did not arrive in time.'
      : `This is not a request that HTTP allows (${error.message}).`;
  const body = JSON.stringify(new RequestError(status, said).body());
  socket.write(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}
