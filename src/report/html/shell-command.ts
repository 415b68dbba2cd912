/**
 * A command line of `bench serve` that a POSIX shell reads back as it was, but for secrets: the values of headers, and
 * passwords within URLs.
 */
export function shellCommand(argv: readonly string[]): string {
  const command = argv[0] === 'bench' ? ['omnimeter'] : ['omnimeter', 'bench', 'serve'];
  return [...command, ...withoutSecrets(argv).map(shellWord)].join(' ');
}

function shellWord(word: string): string {
  return /^[\w./:,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Words of a command line without the values of headers, and without passwords within URLs: `***` in their place. */
export function withoutSecrets(argv: readonly string[]): string[] {
  let inHeaders = false;
  return argv.map((word) => {
    if (word.startsWith('--')) {
      inHeaders = word === '--header';
      return word.startsWith('--header=') ? hideValue(word, '--header='.length) : hidePassword(word);
    }
    return inHeaders ? hideValue(word, 0) : hidePassword(word);
  });
}

function hideValue(word: string, from: number): string {
  const at = word.indexOf('=', from);
  return at < 0 ? word : `${word.slice(0, at)}=***`;
}

function hidePassword(word: string): string {
  return word.replace(/(:\/\/[^/\s:@]*):[^/\s@]*@/g, '$1:***@');
}
