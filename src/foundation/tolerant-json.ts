/**
 * A string as it stands, or a bare word that Python writes for a float that JSON cannot hold. A string without an end
 * reaches to that of the text, so that a hostile one is read once and not from each of its quotes.
 */
const bareWords = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?\bInfinity\b|\bNaN\b/gs;

/**
 * `JSON.parse` that also takes Python's bare `Infinity`, `-Infinity` (as such) and `NaN` (as null).
 * @throws SyntaxError as `JSON.parse`
 */
export function parseTolerantJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    let found = false;
    const mended = text.replace(bareWords, (token) => {
      if (token.startsWith('"')) return token;
      found = true;
      // A number too large for a double reads as infinite.
      return token === 'NaN' ? 'null' : token.replace('Infinity', '1e999');
    });
    if (!found) throw error;
    return JSON.parse(mended);
  }
}

/**
 * One value, or one per line (an append file); blank lines are skipped.
 * @throws SyntaxError naming the line, where the text is neither
 */
export function parseJsonValues(text: string): { readonly value: unknown; readonly line: number | null }[] {
  try {
    return [{ value: parseTolerantJson(text), line: null }];
  } catch (whole) {
    const lines = text.split('\n');
    const filled = lines.filter((line) => line.trim() !== '');
    if (filled.length < 2 || !filled.every((line) => line.trimStart().startsWith('{'))) throw whole;
    return lines.flatMap((line, i) => {
      if (line.trim() === '') return [];
      try {
        return [{ value: parseTolerantJson(line), line: i + 1 }];
      } catch (error) {
        throw new SyntaxError(`line ${i + 1}: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  }
}
