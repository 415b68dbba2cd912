import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJson, runCli, withFolder } from './run-cli.ts';

const chunk = (text: string, tokens: number): string =>
  `data: ${JSON.stringify({ id: 'c', modality: 'text', choices: [{ index: 0, delta: { content: text }, text }], usage: { prompt_tokens: 4, completion_tokens: tokens } })}\n\n`;

/** What the server does, by the prompt's word. Each ends as a hostile or broken server would. */
const faults: Record<string, (response: ServerResponse) => void> = {
  good: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('a', 1));
    response.end(`${chunk('b', 2)}data: [DONE]\n\n`);
  },
  reset: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('a', 1));
    setTimeout(() => response.socket?.resetAndDestroy(), 30);
  },
  errorevent: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('a', 1));
    response.end(
      'data: {"error":{"message":"engine \\u001b[31mdied","type":"InternalServerError","code":500}}\n\ndata: [DONE]\n\n',
    );
  },
  empty: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end();
  },
  toomany: (response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
    response.end('{"error":{"message":"slow down","type":"RateLimitError","param":null,"code":429}}');
  },
  broken: (response) => {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end('out of memory on device 0');
  },
  stall: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('a', 1));
  },
  garbage: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices": [oops\n\n');
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>please sign in</html>');
  },
  hugeline: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const block = Buffer.alloc(1 << 20, 'x');
    let blocks = 0;
    const more = (): void => {
      while (blocks < 100 && !response.destroyed) {
        blocks += 1;
        if (!response.write(blocks === 1 ? Buffer.concat([Buffer.from('data: '), block]) : block))
          return void response.once('drain', more);
      }
      response.end();
    };
    more();
  },
};
/** Kind, status and a piece of the proof that the result must name for each. */
const expected: Record<string, { kind: string; status: number | null; proof: RegExp }> = {
  reset: { kind: 'reset', status: 200, proof: /./ },
  errorevent: { kind: 'stream_error', status: 200, proof: /died/ },
  empty: { kind: 'empty', status: 200, proof: /empty/ },
  toomany: { kind: 'http', status: 429, proof: /slow down/ },
  broken: { kind: 'http', status: 500, proof: /out of memory on device 0/ },
  stall: { kind: 'timeout', status: 200, proof: /time limit of 1500 ms/ },
  garbage: { kind: 'malformed', status: 200, proof: /oops/ },
  html: { kind: 'content_type', status: 200, proof: /please sign in/ },
  hugeline: { kind: 'limit', status: 200, proof: /max-line-bytes/ },
};

let url = '';
const server = createServer((request: IncomingMessage, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    const name = Object.keys(faults).find((word) => body.includes(`do ${word} please`)) ?? 'good';
    faults[name]?.(response);
  });
});
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
        url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        resolve();
      });
    }),
);
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Failed = { index: number; kind: string; status: number | null; error: string; body: string | null };

describe.each(['socket', 'node-http'] as const)('a server that fails in every way, over %s', (transport) => {
  it.each([
    ['openai-chat-omni', '/v1/chat/completions', ['--omni', '--omni-request-timeout-s', '1.5']],
    ['openai', '/v1/completions', ['--request-timeout-s', '1.5']],
  ])(
    '%s: every failure is counted with kind, status and proof; the run ends and reports',
    async (backend, endpoint, flags) => {
      await withFolder(async (dir) => {
        const names = Object.keys(faults);
        const prompts = join(dir, 'prompts.jsonl');
        const { writeFileSync } = await import('node:fs');
        writeFileSync(
          prompts,
          names.map((name) => JSON.stringify({ prompt: `do ${name} please` })).join('\n'),
        );
        const run = await runCli(
          [
            'bench',
            'serve',
            ...flags,
            '--base-url',
            url,
            '--backend',
            backend,
            '--endpoint',
            endpoint,
            '--model',
            'm',
            '--dataset-name',
            'custom',
            '--dataset-path',
            prompts,
            '--skip-chat-template',
            '--disable-shuffle',
            '--num-prompts',
            String(names.length),
            '--transport',
            transport,
            '--save-result',
            '--result-dir',
            dir,
            '--result-filename',
            'result.json',
            '--percentile-metrics',
            'ttft,tpot,itl,e2el',
          ],
          { cwd: dir },
        );
        expect(run.exitCode, run.stderr).toBe(0);
        expect(run.stdout).toMatch(/Successful requests: +1\s/);
        expect(run.stdout).toMatch(/Failed requests: +9\s/);
        expect(run.stdout).not.toContain('NaN');
        // A server's control sequences never reach the terminal.
        expect(run.stdout + run.stderr).not.toContain('\u001b[31m');
        const result = readJson(join(dir, 'result.json')) as {
          completed: number;
          failed: number;
          failed_requests: Failed[];
        };
        expect(result).toMatchObject({ completed: 1, failed: 9 });
        const seen = new Map(result.failed_requests.map((request) => [names[request.index] ?? '', request]));
        for (const [name, { kind, status, proof }] of Object.entries(expected)) {
          const request = seen.get(name);
          expect({ name, kind: request?.kind, status: request?.status }).toEqual({ name, kind, status });
          expect(`${request?.error}\n${request?.body}`).toMatch(proof);
        }
      });
    },
    60_000,
  );

  it('a server that is gone: every request fails, the report prints, exit code 1', async () => {
    await withFolder(async (dir) => {
      const run = await runCli(
        [
          'bench',
          'serve',
          '--omni',
          '--base-url',
          'http://127.0.0.1:9',
          '--backend',
          'openai-chat-omni',
          '--endpoint',
          '/v1/chat/completions',
          '--model',
          'm',
          '--dataset-name',
          'random',
          '--random-input-len',
          '4',
          '--random-output-len',
          '4',
          '--num-prompts',
          '3',
          '--transport',
          transport,
          '--save-result',
          '--save-detailed',
          '--result-dir',
          dir,
          '--result-filename',
          'result.json',
        ],
        { cwd: dir },
      );
      expect(run.exitCode, run.stderr).toBe(1);
      expect(run.stdout).toMatch(/Failed requests: +3\s/);
      expect(run.stderr).toContain('All requests failed');
      const result = readJson(join(dir, 'result.json')) as { failed_requests: Failed[] };
      expect(result.failed_requests.map(({ kind }) => kind)).toEqual(['connect', 'connect', 'connect']);
    });
  }, 60_000);
});

describe('a server whose audio does not decode', () => {
  it('has failed already in the progress', async () => {
    const speaker = createServer((request: IncomingMessage, response: ServerResponse) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.end('this is no MP3'.repeat(100));
      });
    });
    await new Promise<void>((resolve) => speaker.listen(0, '127.0.0.1', resolve));
    try {
      const run = await runCli([
        ...['bench', 'serve', '--backend', 'openai-audio-speech', '--endpoint', '/v1/audio/speech'],
        ...['--port', String((speaker.address() as AddressInfo).port), '--model', 'm', '--unstreamed'],
        ...['--skip-tokenizer-init', '--ready-check-timeout-sec', '0', '--extra-body.response_format', 'mp3'],
        ...['--dataset-name', 'random', '--random-input-len', '4', '--num-prompts', '3'],
      ]);
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toMatch(
        /^Requests 3\/3 .* 3 failed\], last error: the audio of the reply could not be/m,
      );
    } finally {
      speaker.closeAllConnections();
      speaker.close();
    }
  });
});
