import { randomUUID } from 'node:crypto';

/** A name for a process, or a worker in it, among those of a deployment. */
export function newProcessId(): string {
  return randomUUID();
}
