/**
 * A command as a POSIX shell splits it into words, without expansions (Python's `shlex.split`).
 * @throws SyntaxError for a quote that is not closed
 */
export function splitShellWords(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let i = 0; i < command.length; i += 1) {
    const character = command[i] as string;
    if (quote === "'") {
      if (character === "'") quote = null;
      else word = (word ?? '') + character;
    } else if (character === '\\') {
      const next = command[i + 1];
      if (next === undefined) throw new SyntaxError('a backslash at the end escapes nothing');
      // Between double quotes a backslash escapes only what would be special there.
      word = (word ?? '') + (quote === '"' && !'"\\$`\n'.includes(next) ? `\\${next}` : next);
      i += 1;
    } else if (quote === '"') {
      if (character === '"') quote = null;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== null) throw new SyntaxError(`a ${quote} is not closed`);
  if (word !== null) words.push(word);
  return words;
}

/** Words as a POSIX shell reads them back, in one line. */
export function joinShellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w./:,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
