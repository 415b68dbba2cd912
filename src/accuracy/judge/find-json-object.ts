/** Places at which an object may begin; a text of thousands of braces holds no verdict. */
const mostPlaces = 200;

/** The first `{…}` anywhere in a text that is JSON. `null` = there is none. */
export function findJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  let from = text.indexOf('{');
  for (let places = 0; from >= 0 && places < mostPlaces; places += 1) {
    const end = closingBrace(text, from);
    const found = end < 0 ? null : parsed(text.slice(from, end + 1));
    if (found !== null) return found;
    from = text.indexOf('{', from + 1);
  }
  return null;
}

function closingBrace(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = from; i < text.length; i += 1) {
    const character = text[i];
    if (quoted && character === '\\') i += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '{') depth += 1;
    else if (!quoted && character === '}') {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
