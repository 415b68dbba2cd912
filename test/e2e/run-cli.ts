import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cliPath = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
if (!existsSync(cliPath))
  throw new Error('dist/cli.js is missing; `npm test` builds it first (npm run build)');

export type CliResult = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type CliProcess = {
  readonly child: ChildProcess;
  readonly done: Promise<CliResult>;
  /** Resolves with the first match in what the process has printed on either stream. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
};

export type CliOptions = { readonly cwd?: string; readonly env?: Record<string, string | undefined> };

/** Starts the real command line, as a user would. */
export function startCli(args: readonly string[], options: CliOptions = {}): CliProcess {
  const env = { ...process.env, OPENAI_API_KEY: undefined, HF_HUB_OFFLINE: '1', ...options.env };
  const child = spawn(process.execPath, [cliPath, ...args], {
    cwd: options.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of [...waiting]) check();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    wake();
  });
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      resolve({ exitCode, signal, stdout, stderr });
      wake();
    });
  });
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(stdout) ?? pattern.exec(stderr);
        if (match) {
          waiting.delete(check);
          resolve(match);
        } else if (child.exitCode !== null) {
          waiting.delete(check);
          reject(
            new Error(
              `the process ended (exit ${child.exitCode}) without printing ${pattern}:\n${stdout}\n${stderr}`,
            ),
          );
        }
      };
      waiting.add(check);
      check();
    });
  return { child, done, printed };
}

/** Runs the command line to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).done;
}

export type EmbeddedServer = { readonly url: string; readonly port: string; close(): Promise<void> };

/** Starts `omnimeter serve` in a process of its own on a free port (or the one given in `args`). */
export async function startEmbeddedServer(args: readonly string[]): Promise<EmbeddedServer> {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const server = startCli(['serve', ...args, ...port]);
  const [, url = ''] = await server.printed(/(?:ready:|[Ll]istening on) (http:\/\/\S+)/);
  return {
    url,
    port: new URL(url).port,
    close: async () => {
      server.child.kill('SIGTERM');
      await server.done;
    },
  };
}

/** A folder that is removed afterwards. */
export async function withFolder<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-e2e-'));
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A result file; throws on NaN or Infinity, which are not JSON. */
export function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8'));
}
