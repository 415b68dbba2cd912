import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the judge got it. */
export type JudgeRequest = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  readonly system: string;
  readonly user: string;
};
/** What the judge does with it: its answer's text, or anything else that a server can do. */
export type JudgeReply =
  | string
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'break'
  | 'silence';

/** A judge on the loopback that answers as it is told. */
export async function scriptedJudge(
  answer: (request: JudgeRequest, index: number) => JudgeReply | { readonly late: Promise<string> },
): Promise<{ url: string; requests: JudgeRequest[]; close: () => Promise<void> }> {
  const requests: JudgeRequest[] = [];
  const server = createServer((incoming, reply) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>;
      const [system, user] = (body.messages as { content: string }[]).map(({ content }) => content);
      const request = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body,
        system: system ?? '',
        user: user ?? '',
      };
      requests.push(request);
      await send(reply, answer(request, requests.length - 1));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(reply: ServerResponse, what: JudgeReply | { late: Promise<string> }): Promise<void> {
  if (what === 'silence') return;
  if (what === 'break') {
    reply.destroy();
    return;
  }
  if (typeof what === 'object' && 'late' in what) {
    reply.end(completion(await what.late));
    return;
  }
  if (typeof what === 'string') {
    reply.setHeader('content-type', 'application/json');
    reply.end(completion(what));
    return;
  }
  reply.writeHead(what.status ?? 200, what.headers ?? {});
  reply.end(what.body ?? '');
}

function completion(content: string): string {
  return JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
}
