/** Anything but printable ASCII, the quote and the backslash. */
const needsEscape = /[^ !#-[\]-~]/;
const beyondAscii = /[\u0080-\uffff]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** JSON in ASCII alone, so that its length in characters is its length in bytes. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(beyondAscii, escapeUnit);
}

/** The inside of a JSON string, without its quotes. */
export function asciiJsonText(text: string): string {
  return needsEscape.test(text) ? asciiJson(text).slice(1, -1) : text;
}
