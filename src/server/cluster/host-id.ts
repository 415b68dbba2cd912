import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Equal in processes that share memory, as far as can be known. */
export function hostId(): string {
  try {
    return `${hostname()}/${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
  } catch {
    // No such file outside Linux; a name must do.
    return hostname();
  }
}
