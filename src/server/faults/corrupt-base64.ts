/** A run of base64 long enough to be content rather than a word. */
const base64Run = /[A-Za-z0-9+/]{64,}={0,2}/;
/** Signs that no base64 has. */
const notBase64 = '*!?*';

/** Puts signs into the first base64 text that it finds which make it unreadable; its length stays. */
export function corruptBase64(text: string): string {
  const found = base64Run.exec(text);
  if (found === null) return text;
  const at = found.index + 8;
  return text.slice(0, at) + notBase64 + text.slice(at + notBase64.length);
}
