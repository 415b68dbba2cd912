import { readFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../src/records/journal.ts';
import { benchFlags, type Recorded, type Recorder, startRecorder, withRecorder } from './recorder.ts';
import { reportFigures } from './report-figures.ts';
import {
  type CliOptions,
  type CliResult,
  readJson,
  runCli,
  startEmbeddedServer,
  withFolder,
} from './run-cli.ts';

const omniModel = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';

/** Runs against a recorder and expects success. */
async function sent(
  recorder: Recorder,
  flags: readonly string[],
  options: CliOptions & { readonly tokenizer?: boolean } = {},
): Promise<CliResult & { generations: Recorded[] }> {
  const before = recorder.generations().length;
  const result = await runCli(benchFlags(recorder.url, flags, options), options);
  expect(result.exitCode, result.stderr).toBe(0);
  return { ...result, generations: recorder.generations().slice(before) };
}

describe('the model on the wire', () => {
  it("is the server's first where none is named", async () => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        const { stdout, generations } = await sent(
          recorder,
          ['--num-prompts', '2', '--save-result', '--result-dir', dir, '--result-filename', 'r.json'],
          { tokenizer: true },
        );
        expect(stdout).toContain(
          'Model not specified, fetching first model from server...\nUsing model: first\n',
        );
        expect(generations.map(({ body }) => body.model)).toEqual(['first', 'first']);
        expect(recorder.requests[0]).toMatchObject({ method: 'GET', url: '/v1/models' });
        // The tokenizer is that of the model behind the name.
        expect(readJson(join(dir, 'r.json'))).toMatchObject({ model_id: 'org/first' });
      });
    });
  });

  it.each([
    ['an empty list', '{"data":[]}', /^error: No models found on the server at /m],
    ['a refusal', null, /^error: Failed to fetch models from server at .*HTTP 401: who are you/m],
  ])('%s of models ends the command', async (_what, list, message) => {
    await withRecorder(
      async (recorder) => {
        const { exitCode, stderr } = await runCli(benchFlags(recorder.url, ['--num-prompts', '1']));
        expect(exitCode).toBe(1);
        expect(stderr).toMatch(message);
        expect(recorder.generations()).toEqual([]);
      },
      {
        answer: (_request, response) => {
          response.statusCode = list === null ? 401 : 200;
          response.end(list ?? 'who are you');
          return true;
        },
      },
    );
  });

  it('is --served-model-name where one is given', async () => {
    await withRecorder(async (recorder) => {
      const { generations } = await sent(recorder, [
        ...['--model', 'org/weights', '--served-model-name', 'alias', '--num-prompts', '1'],
      ]);
      expect(generations.map(({ body }) => body.model)).toEqual(['alias']);
    });
  });

  const lora = [
    '--model',
    'm',
    '--num-prompts',
    '12',
    '--max-concurrency',
    '1',
    '--lora-modules',
    'a',
    'b',
    'c',
  ];

  it('goes round the LoRA adapters', async () => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        const { generations } = await sent(recorder, [
          ...[...lora, '--lora-assignment', 'round-robin', '--run-dir', join(dir, 'run')],
        ]);
        const around = Array.from({ length: 12 }, (_, index) => 'abc'[index % 3]);
        expect(generations.map(({ body }) => body.model)).toEqual(around);
        const { records } = await readRun(join(dir, 'run'));
        expect(records.map(({ model }) => model)).toEqual(around);
      });
    });
  });

  it('is a random LoRA adapter by the seed', async () => {
    await withRecorder(async (recorder) => {
      const models = async (seed: string): Promise<unknown[]> =>
        (await sent(recorder, [...lora, '--seed', seed])).generations.map(({ body }) => body.model);
      const first = await models('1');
      expect(new Set(first)).toEqual(new Set(['a', 'b', 'c']));
      expect(await models('1')).toEqual(first);
      expect(await models('2')).not.toEqual(first);
    });
  });
});

describe('headers', () => {
  it('no key, no authorization; ids count up from the prefix', async () => {
    await withRecorder(async (recorder) => {
      const { generations } = await sent(recorder, [
        ...['--model', 'm', '--num-prompts', '3', '--request-id-prefix', 'nightly/'],
      ]);
      for (const { headers } of generations) {
        expect(headers).not.toHaveProperty('authorization');
        expect(headers).not.toHaveProperty('x-api-key');
      }
      expect(generations.map(({ headers }) => headers['x-request-id']).toSorted()).toEqual([
        ...['nightly/0', 'nightly/1', 'nightly/2'],
      ]);
    });
  });

  it('OPENAI_API_KEY is sent to all that is asked, and --header wins over it', async () => {
    await withRecorder(async (recorder) => {
      const env = { OPENAI_API_KEY: 'sesame' };
      await sent(recorder, ['--num-prompts', '1'], { env });
      expect(recorder.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
        ['/v1/models', 'Bearer sesame'],
        ['/v1/completions', 'Bearer sesame'],
      ]);
      const header = ['--header', 'authorization=Token other', 'X-Team=blue = sky'];
      const { generations } = await sent(recorder, ['--num-prompts', '1', ...header], { env });
      expect(generations[0]?.headers).toMatchObject({ authorization: 'Token other', 'x-team': 'blue = sky' });
      const models = recorder.requests.filter(({ url }) => url === '/v1/models').at(-1);
      expect(models?.headers).toMatchObject({ authorization: 'Token other', 'x-team': 'blue = sky' });
    });
  });
});

describe('the body', () => {
  it('takes dotted members, sampling flags below them, and ignore_eos for random prompts', async () => {
    await withRecorder(async (recorder) => {
      const { generations } = await sent(recorder, [
        ...['--model', 'm', '--num-prompts', '1', '--temperature', '0.9', '--top-k', '5'],
        ...['--extra-body.temperature', '0.3', '--extra-body.chat_template_kwargs.enable_thinking', 'false'],
        ...['--extra_body.stop+', 'END', '--logprobs', '2'],
      ]);
      expect(generations[0]?.body).toMatchObject({
        temperature: 0.3,
        top_k: 5,
        chat_template_kwargs: { enable_thinking: false },
        stop: ['END'],
        ignore_eos: true,
        logprobs: 2,
        max_tokens: 3,
        stream: true,
        stream_options: { include_usage: true },
      });
    });
  });

  it('asks for stage metrics only where a report needs them', async () => {
    await withRecorder(async (recorder) => {
      const asks = async (...flags: string[]): Promise<unknown> =>
        (await sent(recorder, ['--model', 'm', '--num-prompts', '1', ...flags])).generations[0]?.body
          .return_stage_metrics;
      expect(await asks()).toBeUndefined();
      expect(await asks('--print-stage')).toBe(true);
      const omni = ['--omni', '--backend', 'openai-chat-omni'];
      expect(await asks(...omni)).toBe(true);
      expect(await asks(...omni, '--percentile-metrics', 'ttft,e2el')).toBeUndefined();
      expect(await asks(...omni, '--extra-body.return_stage_metrics', 'false')).toBe(false);
    });
  });
});

describe('replies that are not streamed', () => {
  it.each([
    ['openai', '--extra-body.stream', 'false'],
    ['openai-chat', '--extra-body', '{"stream": false}'],
  ])('%s: latency and tokens, and nothing that only a stream can show', async (backend, ...flags) => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        const { stdout, generations } = await sent(recorder, [
          ...['--model', 'm', '--backend', backend, '--num-prompts', '2', ...flags],
          ...['--percentile-metrics', 'ttft,tpot,itl,e2el'],
          ...['--save-result', '--result-dir', dir, '--result-filename', 'r.json'],
        ]);
        for (const { body } of generations) {
          expect(body.stream).toBe(false);
          expect(body).not.toHaveProperty('stream_options');
        }
        expect(stdout).toContain('Mean E2EL (ms):');
        expect(stdout).not.toMatch(/TTFT|TPOT|ITL/);
        const result = readJson(join(dir, 'r.json'));
        expect(result).toMatchObject({ completed: 2, failed: 0, total_output_tokens: 2 });
        expect(result.mean_ttft_ms ?? null).toBeNull();
      });
    });
  });

  it('openai-chat-omni: text, speech and stages of the embedded server', async () => {
    const server = await startEmbeddedServer([omniModel, '--omni', '--time-scale', '0.01']);
    try {
      const run = await runCli(
        benchFlags(server.url, [
          ...['--omni', '--backend', 'openai-chat-omni', '--model', omniModel, '--num-prompts', '3'],
          ...['--extra-body.stream', 'false', '--print-stage', '--max-concurrency', '1'],
          ...['--percentile-metrics', 'ttft,e2el,audio_ttfp,audio_rtf,audio_duration'],
        ]),
      );
      expect(run.exitCode, run.stderr).toBe(0);
      const figures = reportFigures(run.stdout);
      expect(figures.get('Serving / Total generated tokens')).toBe(9);
      // The stages' own words on the same replies.
      const frames = figures.get('Stage 2 (code2wav) / Stage audio frames generated');
      expect(frames).toBeGreaterThan(0);
      expect(figures.get('Serving / Total audio frames generated')).toBe(frames);
      expect(figures.get('Serving / Mean AUDIO_DURATION (s)')).toBeGreaterThan(0);
      expect(figures.has('Serving / Mean AUDIO_TTFP (ms)')).toBe(false);
      expect(figures.has('Serving / Mean TTFT (ms)')).toBe(false);
    } finally {
      await server.close();
    }
  });
});

describe('proxies of the environment', () => {
  it.each(['socket', 'node-http'])('carry what is asked, over %s; no_proxy exempts', async (transport) => {
    const passed: string[] = [];
    const recorder = await startRecorder();
    // A forward proxy to which every name is the recorder.
    const proxy = createServer((request, response) => {
      passed.push(`${request.method} ${request.url}`);
      const url = new URL(request.url ?? '');
      const { method, headers } = request;
      const onward = forward(
        { host: '127.0.0.1', port: recorder.port, path: url.pathname, method, headers },
        (reply) => {
          response.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(response);
        },
      );
      request.pipe(onward);
    });
    proxy.on('connect', (request, socket) => {
      passed.push(`CONNECT ${request.url}`);
      const onward = connect(recorder.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const env = {
      http_proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      no_proxy: '127.0.0.1',
    };
    const flags = ['--num-prompts', '2', '--transport', transport];
    try {
      // No resolver knows this name: only the proxy can lead there.
      const far = await runCli(benchFlags('http://model.invalid:8123', flags), { env });
      expect(far.exitCode, far.stderr).toBe(0);
      expect(recorder.requests.map(({ url }) => url)).toEqual([
        ...['/v1/models', '/v1/completions', '/v1/completions'],
      ]);
      expect(recorder.requests[1]?.headers.host).toBe('model.invalid:8123');
      expect(passed.filter((line) => line.endsWith('http://model.invalid:8123/v1/completions'))).toHaveLength(
        2,
      );
      const before = passed.length;
      await sent(recorder, flags, { env });
      expect(passed).toHaveLength(before);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
      await recorder.close();
    }
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

describe('IPv6', () => {
  it.skipIf(!hasIpv6).each(['::1', '[::1]'])('--host %s', async (host) => {
    const server = await startEmbeddedServer([omniModel, '--host', '::1', '--time-scale', '0.01']);
    try {
      expect(server.url).toBe(`http://[::1]:${server.port}`);
      const run = await runCli([
        ...['bench', 'serve', '--host', host, '--port', server.port, '--num-prompts', '2'],
        ...['--random-input-len', '4', '--random-output-len', '3'],
      ]);
      expect(run.exitCode, run.stderr).toBe(0);
      expect(run.stdout).toMatch(/Successful requests: +2\s/);
    } finally {
      await server.close();
    }
  });
});

describe('TLS', () => {
  const fixture = (name: string): string =>
    fileURLToPath(new URL(`../../src/transport/contract/__fixtures__/${name}`, import.meta.url));
  const certificate = fixture('localhost-cert.pem');
  const tls = {
    cert: readFileSync(certificate, 'utf8'),
    key: readFileSync(fixture('test-only-key.pem'), 'utf8'),
  };

  it.each(['socket', 'node-http'])('a certificate that nobody vouches for, over %s', async (transport) => {
    await withRecorder(
      async (recorder) => {
        const flags = ['--model', 'm', '--num-prompts', '2', '--transport', transport];
        await withFolder(async (dir) => {
          const refused = await runCli(
            benchFlags(recorder.url, [
              ...[...flags, '--save-result', '--result-dir', dir, '--result-filename', 'r.json'],
            ]),
          );
          expect(refused.exitCode).toBe(1);
          expect(refused.stdout).toMatch(/2 × connect: .*self-signed certificate.*--insecure/);
          expect(readJson(join(dir, 'r.json')).failed_requests).toMatchObject([
            { index: 0, kind: 'connect', status: null },
            { index: 1, kind: 'connect', status: null },
          ]);
        });
        expect(recorder.requests).toEqual([]);
        expect((await sent(recorder, [...flags, '--insecure'])).generations).toHaveLength(2);
        const trusting = { env: { NODE_EXTRA_CA_CERTS: certificate } };
        expect((await sent(recorder, flags, trusting)).generations).toHaveLength(2);
      },
      { tls },
    );
  });

  it('holds for the list of models and the profiler too', async () => {
    await withRecorder(
      async (recorder) => {
        const refused = await runCli(benchFlags(recorder.url, ['--num-prompts', '1']));
        expect(refused.exitCode).toBe(1);
        expect(refused.stderr).toMatch(
          /^error: Failed to fetch models from server at .*self-signed certificate/m,
        );
        await sent(recorder, ['--num-prompts', '1', '--insecure', '--profile']);
        expect(recorder.requests.map(({ url }) => url)).toEqual([
          ...['/v1/models', '/start_profile', '/v1/completions', '/stop_profile'],
        ]);
      },
      { tls },
    );
  });
});
