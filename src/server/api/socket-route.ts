import type { WebSocket } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from './request-error.ts';

/** A route of a WebSocket; a plain request for it is told so. */
export function socketRoute(
  app: FastifyInstance,
  url: string,
  onSocket: (socket: WebSocket, request: FastifyRequest) => void,
): void {
  app.route({
    method: 'GET',
    url,
    wsHandler: onSocket,
    handler: () => {
      throw new RequestError(426, `${url} is a WebSocket: connect with ws://, or offer the upgrade.`, null, {
        upgrade: 'websocket',
        connection: 'Upgrade',
      });
    },
  });
}
