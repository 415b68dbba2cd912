import type { CommandIo } from '../bench/serve/options.ts';
import { inertText } from '../report/sanitize-for-terminal.ts';
import { LiveBlock } from './live-block.ts';

/** The terminal of this process. A closed pipe (`| head`) ends the output and not the run. */
export function processIo(): CommandIo {
  const { stdout, stderr, env } = process;
  const block = new LiveBlock(stderr);
  const writer = (stream: NodeJS.WriteStream): ((line: string) => void) => {
    let open = true;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      open = false;
      if (error.code === 'EPIPE') return;
      // A full disk behind `> file` must not cost what the command still has to write elsewhere.
      process.exitCode = 1;
      if (stream === stdout) stderr.write(`error: cannot write to standard output: ${error.message}\n`);
    });
    return (line) => {
      if (!open) return;
      const write = (): void => void stream.write(`${inertText(line)}\n`);
      if (stream.isTTY) block.above(write);
      else write();
    };
  };
  return {
    stdout: writer(stdout),
    stderr: writer(stderr),
    redraw: (lines) => block.redraw(lines),
    settle: () => block.settle(),
    // Logs of CI keep every redrawing, even where they look like a terminal.
    isTty: stderr.isTTY === true && !env.CI && env.TERM !== 'dumb',
    get columns() {
      return stdout.columns ?? stderr.columns ?? 100;
    },
    onInterrupt(handler) {
      let signals = 0;
      const onSignal = (): void => {
        signals += 1;
        // Whatever the command is stuck in, a third signal ends it.
        if (signals > 2) process.exit(130);
        handler();
      };
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
    },
  };
}

/** Resolves when everything written so far has left the process, or nobody reads it. */
export async function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    stream.write('', () => resolve());
  });
}
