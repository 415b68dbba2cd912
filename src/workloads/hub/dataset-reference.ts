import { isHubId, isRevision } from '../../tokens/hub-repository.ts';

/** A data set on the hub: `org/name`, or `org/name@revision`. */
export type DatasetReference = {
  readonly id: string;
  /** A branch, a tag or a commit; `main` where none was given. */
  readonly revision: string;
};

/** @returns `null` where the text is neither */
export function parseDatasetReference(text: string): DatasetReference | null {
  const at = text.indexOf('@');
  const id = at < 0 ? text : text.slice(0, at);
  const revision = at < 0 ? 'main' : text.slice(at + 1);
  return isHubId(id) && isRevision(revision) ? { id, revision } : null;
}
