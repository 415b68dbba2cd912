/** What the hub keeps under one id. */
export type HubRepository = { readonly kind: 'model' | 'dataset'; readonly id: string };

const segment = /^[\w](?:[\w.-]{0,94}[\w])?$/;

/**
 * Whether a text can be an id on the hub: `name` or `org/name` of letters, digits, `_`, `-` and `.`, as the hub
 * itself allows; never a path that leaves its folder.
 */
export function isHubId(text: string): boolean {
  const segments = text.split('/');
  return (
    segments.length <= 2 &&
    text.length <= 96 &&
    segments.every((part) => segment.test(part)) &&
    !/--|\.\.|\.git$/.test(text)
  );
}

/** Whether a text can be a branch, a tag, a commit or a ref such as `refs/convert/parquet`. */
export function isRevision(text: string): boolean {
  return (
    text.length <= 200 &&
    text.split('/').every((part) => /^[\w][\w.+-]*$/.test(part) && !part.includes('..') && part !== '.')
  );
}

/** Whether a name can be a file's path in a repository: relative, and never out of its folder. */
export function isRepositoryPath(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (name === '' || name.length > 1000 || /[\u0000-\u001f\\]/.test(name)) return false;
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Whether a revision is a full commit, which never moves. */
export function isFullCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}
