/** Marks that reorder or hide what stands around them. */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Joiners only shape letters and emoji. */
const joiners = new Set(['\u200c', '\u200d']);

/**
 * Foreign text with nothing hidden in it: control characters as their pictures (␛), marks that reorder or hide text
 * as their code points. Tabs and line ends stay.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/\p{Cc}/gu, (control) => (control === '\n' || control === '\t' ? control : pictured(control)))
    .replace(invisible, (mark) => (joiners.has(mark) ? mark : `⟨U+${hex(mark)}⟩`));
}

function pictured(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : `⟨U+${hex(control)}⟩`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
