import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian puts it where only root's path leads. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/** The broker's program; `null` = this machine has none. */
export const natsServerPath: string | null =
  folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path)) ?? null;

/** Follows a test's name where it is skipped. */
export const noNatsServer = ': no nats-server on this machine (Debian: apt-get install nats-server)';

/** A broker of a test's own. */
export type NatsServer = {
  readonly port: number;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
};

/** @param port 0 = any free one */
export async function startNatsServer(port = 0): Promise<NatsServer> {
  const child = spawn(natsServerPath ?? '', ['-a', '127.0.0.1', '-p', String(port === 0 ? -1 : port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { port: await listeningPort(child), kill: () => killed(child) };
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`nats-server ended: ${printed}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const port = /Listening for client connections on [^\n]*:(\d+)/.exec(printed)?.[1];
      // Only then does it take connections.
      if (port !== undefined && printed.includes('Server is ready')) resolve(Number(port));
    });
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
