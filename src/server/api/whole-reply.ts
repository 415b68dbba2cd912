import type { OutgoingHttpHeaders } from 'node:http';
import { corruptBase64 } from '../faults/corrupt-base64.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';

function write(
  { response, id, truth }: AcceptedRequest,
  status: number,
  body: Buffer,
  headers: OutgoingHttpHeaders,
): void {
  if (response.destroyed || response.writableEnded) return;
  truth.note('headers');
  response.writeHead(status, { 'content-length': body.length, 'x-request-id': id, ...headers });
  truth.note('done', { bytes: body.length });
  response.end(body);
}

function writeError(accepted: AcceptedRequest, error: RequestError): void {
  accepted.truth.note('error');
  const body = Buffer.from(JSON.stringify(error.body()), 'utf8');
  write(accepted, error.status, body, { 'content-type': jsonType, ...error.headers });
}

const jsonType = 'application/json; charset=utf-8';

/** Sends a body whole, and lets the reply's fault happen to it. */
export function sendBytes(life: ReplyLife, body: Buffer, headers: OutgoingHttpHeaders): void {
  const { accepted, fault } = life;
  const send = (bytes: Buffer): void => {
    write(accepted, 200, bytes, headers);
    life.end();
  };
  if (fault === null) {
    send(body);
    return;
  }
  if (fault.kind === 'empty') {
    send(Buffer.alloc(0));
    return;
  }
  const gate = life.gate(() => {
    writeError(accepted, new RequestError(500, 'The request failed, as the fault script says.'));
    life.end();
  });
  gate?.pass(true, () => send(body));
}

/** Sends a whole reply of JSON. */
export function sendJson(life: ReplyLife, text: string): void {
  const shown = life.fault?.kind === 'bad-base64' ? corruptBase64(text) : text;
  sendBytes(life, Buffer.from(shown, 'utf8'), { 'content-type': jsonType });
}

/** Ends a reply with an error body and its status. */
export function sendError(life: ReplyLife, error: RequestError): void {
  if (life.gone) return;
  writeError(life.accepted, error);
  life.end();
}
