import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { messageOf } from '../../foundation/errors.ts';
import { callersId, stampAccepted } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { chatCompletionsRoute } from './chat-completions.ts';
import { completionsRoute } from './completions.ts';
import { healthRoute } from './health.ts';
import { modelsRoute } from './models.ts';
import { RequestError } from './request-error.ts';

/** Largest request body, bytes: media travels in it as base64. */
const bodyLimitBytes = 512 * 1024 * 1024;

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
  return reply.code(refusal.status).header('x-request-id', id).send(refusal.body());
}

/** The HTTP side of a server: every route, and one form of error for all that is refused. */
export function httpApp(context: ApiContext): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
  });
  app.decorateRequest('acceptedMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    stampAccepted(request);
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
  app.setNotFoundHandler((request, reply) =>
    answerError(
      context,
      new RequestError(404, `No route answers ${request.method} ${request.url}.`),
      request,
      reply,
    ),
  );
  chatCompletionsRoute(app, context);
  completionsRoute(app, context);
  modelsRoute(app, context);
  healthRoute(app, context);
  return app;
}
