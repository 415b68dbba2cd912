import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { joinShellWords } from '../../foundation/shell-words.ts';

/**
 * A command line of `bench serve` that a POSIX shell reads back as it was, but for secrets, e.g. the values of
 * headers.
 */
export function shellCommand(argv: readonly string[]): string {
  const command = argv[0] === 'bench' ? ['omnimeter'] : ['omnimeter', 'bench', 'serve'];
  return joinShellWords([...command, ...withoutSecrets(argv)]);
}
