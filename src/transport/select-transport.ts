import { socketTransport } from './http1/socket-transport.ts';
import { nodeHttpTransport } from './node-http-transport.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** The HTTP clients by the name that `--transport` takes. */
export const transports = {
  socket: socketTransport,
  'node-http': nodeHttpTransport,
} satisfies Record<string, (options: TransportOptions) => Transport>;

export type TransportName = keyof typeof transports;

/** Makes the client of the given name. */
export function createTransport(name: TransportName, options: TransportOptions): Transport {
  return transports[name](options);
}
