/** A control character, with what follows it where it opens an escape sequence of the kind that sets colours. */
const controls = /\p{Cc}(\[[0-?]*[ -/]*[@-~])?/gu;
/** Marks that reorder, hide or break what follows, and halves of characters. */
const marks = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** Escape sequences of the kind that sets colours and moves the cursor. */
const sequences = /(?![\n\t])(?:\p{Cc}\[|\x9b)[0-?]*[ -/]*[@-~]/gu;
/** Control characters but for line breaks and tabs. */
const otherControls = /(?![\n\t])\p{Cc}/gu;
/** Marks that turn the direction of what follows. */
const overrides = /[\u202a-\u202e\u2066-\u2069]/gu;
const escapeCharacter = '\u001b';

/**
 * Text of a server or a file as one line that can't move the cursor, colour, reorder or hide what the terminal
 * shows: control characters become blanks, colour sequences go.
 * @param maxLength in characters; longer texts are cut and end in `…`
 */
export function sanitizeForTerminal(text: string, maxLength = 300): string {
  const clean = text
    // A reply may hold megabytes; only what can be shown is cleaned.
    .slice(0, maxLength * 8)
    .replace(controls, (found, sequence: string | undefined) =>
      found.startsWith(escapeCharacter) ? '' : ` ${sequence ?? ''}`,
    )
    .replace(marks, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = Array.from(clean);
  return characters.length <= maxLength ? clean : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/**
 * Whole output made inert at the last moment, whoever wrote it: line breaks and tabs stay, every other control
 * character goes, and with it the power of any escape sequence.
 */
export function inertText(text: string): string {
  return text.replace(sequences, '').replace(otherControls, '').replace(overrides, '');
}
