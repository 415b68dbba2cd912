import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import multipart from '@fastify/multipart';
import websocket from '@fastify/websocket';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { messageOf } from '../../foundation/errors.ts';
import { callersId, stampAccepted } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { apiRoutes } from './api-routes.ts';
import { declineOtherUpgrades } from './other-upgrades.ts';
import { RequestError } from './request-error.ts';
import { type RouteMethods, routeMethods } from './route-methods.ts';
import { refuseUnreadable } from './unreadable-request.ts';

/** Largest message on a WebSocket, bytes. */
const mostMessageBytes = 64 * 1024 * 1024;

/** Longest that a request may take to arrive, body included, ms; after it 408. */
const bodyTimeoutMs = 300_000;

/** Any error of a request as one that the client can read. */
function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new RequestError(status, messageOf(error));
  return new RequestError(500, 'Internal error of the server; its log says more.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestError(400, `The request body is not valid JSON: ${messageOf(error)}.`);
  }
}

function answerError(
  context: ApiContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = asRequestError(error);
  // A 5xx that nobody foresaw is a bug, and its stack belongs in the log.
  if (!(error instanceof RequestError) && refusal.status >= 500) console.error(error);
  const id = callersId(request) ?? request.id;
  if (request.method === 'POST') {
    const truth = context.truthLog.entry(id);
    truth.note('accepted', { atMs: request.acceptedMs });
    truth.note('error');
  }
  return reply
    .code(refusal.status)
    .headers({ ...refusal.headers, 'x-request-id': id })
    .send(refusal.body());
}

/** Of equal length whatever the key is, so that comparing takes equally long. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** What is answered without a key: they say nothing of what is generated. */
const openPaths = ['/health', '/metrics'];

/** @throws RequestError 401 unless the request names one of the keys */
function keyCheck(apiKeys: readonly string[]): (request: FastifyRequest) => void {
  const digests = apiKeys.map(digest);
  return (request) => {
    if (digests.length === 0 || openPaths.includes(request.url.split('?')[0] ?? '')) return;
    const given = /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given !== undefined && digests.some((known) => timingSafeEqual(known, digest(given)))) return;
    throw new RequestError(
      401,
      'Unauthorized: send "Authorization: Bearer" and a key of this server.',
      null,
      {
        'www-authenticate': 'Bearer',
      },
    );
  };
}

/** @throws RequestError 413 for a body that announces itself as too large, before a byte of it is read */
function checkAnnouncedLength(request: FastifyRequest, mostBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced <= mostBytes) return;
  throw new RequestError(413, `Request body is too large: ${announced} bytes, at most ${mostBytes}.`, null, {
    connection: 'close',
  });
}

/** What a request is told that no route answers. */
function noRoute({ method, url }: FastifyRequest, methods: RouteMethods): RequestError {
  const path = url.split('?')[0] ?? '';
  const allowed = methods.of(path);
  if (allowed.length === 0) return new RequestError(404, `No route answers ${method} ${url}.`);
  return new RequestError(405, `${path} does not take ${method}; it takes ${allowed.join(', ')}.`, null, {
    allow: allowed.join(', '),
  });
}

/** The HTTP side of a server: every route, and one form of error for all that is refused. */
export function httpApp(context: ApiContext): FastifyInstance {
  const { bodyBytes } = context.limits;
  const app = fastify({
    bodyLimit: bodyBytes,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    requestTimeout: bodyTimeoutMs,
    clientErrorHandler: refuseUnreadable,
    // What is wrong before there is a route, such as a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => answerError(context, error, request, reply),
  });
  const methods = routeMethods(app);
  const checkKey = keyCheck(context.apiKeys);
  app.decorateRequest('acceptedMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    stampAccepted(request);
    try {
      checkKey(request);
      checkAnnouncedLength(request, bodyBytes);
      done();
    } catch (error) {
      done(asRequestError(error));
    }
  });
  // Nobody looks after the socket of an upgrade that was refused: it would stay half open.
  app.addHook('onResponse', (request, reply, done) => {
    if (request.raw.headers.upgrade !== undefined && reply.raw.writableFinished)
      request.raw.socket.destroySoon();
    done();
  });
  // Clients of such servers often send JSON without saying so; a parser for all types takes it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parseJson(body.toString()));
    } catch (error) {
      done(asRequestError(error));
    }
  });
  app.setErrorHandler((error, request, reply) => answerError(context, error, request, reply));
  app.setNotFoundHandler((request, reply) => answerError(context, noRoute(request, methods), request, reply));
  app.register(multipart);
  app.register(websocket, {
    options: { maxPayload: mostMessageBytes, perMessageDeflate: false },
    preClose(done) {
      for (const socket of app.websocketServer.clients) {
        socket.close(1001, 'The server is shutting down.');
        // A client that does not answer would hold the server up.
        socket.terminate();
      }
      app.websocketServer.close(done);
    },
  });
  // A plugin of its own: routes that are declared before the plugins are there do not have what these add.
  app.register(async (scope) => apiRoutes(scope, context));
  app.addHook('onReady', async () => declineOtherUpgrades(app.server));
  return app;
}
