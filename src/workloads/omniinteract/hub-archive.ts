import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { expandHome } from '../../tokens/hub-environment.ts';
import { openHubDataset } from '../hub/hub-dataset.ts';
import { archiveNames } from './dataset-root.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A download shows that it goes on, ms. */
const quietMs = 10_000;

/**
 * The archive of a dataset on the hub, from the cache that is shared with the hub's own client.
 * @param reference `org/name`, or `org/name@revision`
 * @returns where it is, and a folder where it may be unpacked
 * @throws InputFileError naming all that was tried
 */
export async function hubArchive(
  reference: string,
  { env, note }: { readonly env: Environment; readonly note: (line: string) => void },
): Promise<{ readonly archive: string; readonly unpackInto: string }> {
  try {
    const dataset = await openHubDataset(reference, { env, note, progress: progressNotes(note) });
    try {
      const files = await dataset.files();
      const name = archiveNames.find((wanted) => files.some((file) => file.name === wanted));
      if (name === undefined)
        throw new InputFileError(`it has neither ${archiveNames.join(' nor ')} at ${dataset.revision}`);
      const archive = await dataset.file(name);
      if (statSync(archive).size === 0) throw new InputFileError(`${name} is empty`);
      return { archive, unpackInto: join(unpackFolder(env), dataset.id.replaceAll('/', '__')) };
    } finally {
      await dataset.close();
    }
  } catch (cause) {
    if (!(cause instanceof InputFileError)) throw cause;
    throw new InputFileError(
      `Could not download OmniInteract from '${reference}': ${messageOf(cause)}. Give --dataset-path a folder or a data.tar(.gz) that is here.`,
      { cause },
    );
  }
}

/** Beside the hub's own cache, where the original keeps it. */
function unpackFolder(env: Environment): string {
  const caches = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(expandHome(env.HF_HOME || join(caches, 'huggingface'), env), 'vllm_omni', 'omniinteract');
}

function progressNotes(note: (line: string) => void) {
  let saidAt = Date.now();
  return (name: string, bytes: number, total: number | null): void => {
    if (Date.now() - saidAt < quietMs) return;
    saidAt = Date.now();
    const of = total === null ? '' : ` of ${(total / 1e6).toFixed(0)}`;
    note(`omniinteract: ${name}, ${(bytes / 1e6).toFixed(0)}${of} MB`);
  };
}
