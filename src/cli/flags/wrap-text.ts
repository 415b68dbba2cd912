/**
 * Breaks a text at spaces into lines of at most `width` characters; a longer word stays whole on its own line.
 * The first line begins with `first`, the others with `rest`.
 */
export function wrapText(text: string, width: number, first = '', rest = first): string[] {
  const lines: string[] = [];
  let line = first;
  let empty = true;
  for (const word of text.split(/\s+/)) {
    if (word === '') continue;
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = rest + word;
    } else {
      line += (empty ? '' : ' ') + word;
    }
    empty = false;
  }
  lines.push(line.trimEnd());
  return lines;
}
