import { expect } from 'vitest';
import { benchFlags, type Recorder, type startRecorder, withRecorder } from './recorder.ts';
import { type CliResult, runCli, withFolder } from './run-cli.ts';

/** Each reply takes 100 ms. */
export const slow: Parameters<typeof startRecorder>[0] = {
  answer: (_request, response) => {
    setTimeout(() => {
      response.setHeader('content-type', 'text/event-stream');
      response.end('data: {"choices":[{"text":"a"}]}\n\ndata: [DONE]\n\n');
    }, 100);
    return true;
  },
};

/** Runs against a recorder, in a folder of its own, and expects success. */
export async function measured<T>(
  flags: readonly string[],
  look: (seen: { run: CliResult; recorder: Recorder; dir: string }) => T | Promise<T>,
  options: Parameters<typeof startRecorder>[0] = {},
): Promise<T> {
  return withRecorder(
    (recorder) =>
      withFolder(async (dir) => {
        const run = await runCli(benchFlags(recorder.url, ['--model', 'org/m-7B', ...flags]), { cwd: dir });
        expect(run.exitCode, run.stderr).toBe(0);
        return look({ run, recorder, dir });
      }),
    options,
  );
}

export const saved = ['--save-result', '--result-filename', 'r.json'];
