import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type CliProcess, startCli } from './run-cli.ts';

const processes: CliProcess[] = [];
afterEach(async () => {
  for (const { child, done } of processes.splice(0)) {
    child.kill('SIGKILL');
    await done;
  }
});

async function serve(...flags: string[]): Promise<{ process: CliProcess; url: string; port: number }> {
  const started = startCli(['serve', 'Qwen/Qwen2.5-7B-Instruct', '--port', '0', ...flags]);
  processes.push(started);
  const url = (await started.printed(/server ready: (\S+)/))[1] ?? '';
  return { process: started, url, port: Number(new URL(url).port) };
}

/** Addresses that the kernel says someone listens on at a port, as hexadecimal. */
function listening(port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
    readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === '0A' && local?.endsWith(`:${hex}`))
      .map(([, local]) => local?.split(':')[0] ?? ''),
  );
}

test.skipIf(process.platform !== 'linux')(
  'the server listens on this host alone unless told otherwise',
  async () => {
    const own = await serve();
    // 127.0.0.1, its bytes in the machine's order.
    expect(listening(own.port)).toEqual(['0100007F']);
    const open = await serve('--host', '0.0.0.0');
    expect(listening(open.port)).toEqual(['00000000']);
  },
);

test('no key is logged, neither the server’s nor one that was tried', async () => {
  const { process: server, url } = await serve('--api-key', 'sk-right-one', 'sk-other-one', '--log-stats');
  const ask = (key: string, body = '{"messages":[{"role":"user","content":"hello"}],"max_tokens":2}') =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body,
    });
  const statuses = [];
  for (const key of ['sk-right-one', 'sk-other-one', 'sk-wrong-one']) {
    const response = await ask(key);
    statuses.push(response.status);
    expect(await response.text()).not.toMatch(/sk-/);
  }
  expect(statuses).toEqual([200, 200, 401]);
  expect((await ask('sk-right-one', '{')).status).toBe(400);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  server.child.kill('SIGTERM');
  const { stdout, stderr, exitCode } = await server.done;
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/OmniTiming/);
  expect(`${stdout}${stderr}${metrics}`).not.toMatch(/sk-|right-one|other-one|wrong-one/);
});
