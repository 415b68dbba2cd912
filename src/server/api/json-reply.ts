import type { AcceptedRequest } from './accepted-request.ts';
import type { RequestError } from './request-error.ts';

/** Writes a whole reply of JSON. */
export function sendJson({ response, id, truth }: AcceptedRequest, status: number, text: string): void {
  if (response.destroyed || response.writableEnded) return;
  const body = Buffer.from(text, 'utf8');
  truth.note('headers');
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'x-request-id': id,
  });
  truth.note('done', { bytes: body.length });
  response.end(body);
}

/** Writes an error body with its status. */
export function sendError(accepted: AcceptedRequest, error: RequestError): void {
  accepted.truth.note('error');
  sendJson(accepted, error.status, JSON.stringify(error.body()));
}
