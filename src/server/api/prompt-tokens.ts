import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters counted in one turn: one to two ms of a tokenizer in JavaScript. */
const charsPerTurn = 1024;
/** A blank between two ASCII letters: in the vocabularies served here a word border never joins to one token. */
const wordBorder = /[A-Za-z] (?=[A-Za-z])/g;

/** Cuts a text into pieces whose tokens add up to those of the whole; a piece without a border stays whole. */
export function piecesOfPrompt(text: string, mostChars = charsPerTurn): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > mostChars) {
    wordBorder.lastIndex = start + mostChars;
    const border = wordBorder.exec(text);
    if (border === null) break;
    pieces.push(text.slice(start, border.index + 1));
    start = border.index + 1;
  }
  pieces.push(text.slice(start));
  return pieces;
}

/**
 * Tokens of a text, counted a piece per turn of the event loop: a prompt of thousands of tokens takes tens of ms,
 * in which the streams of other requests must not stand still.
 */
export async function countPromptTokens(text: string, count: (text: string) => number): Promise<number> {
  let tokens = 0;
  for (const [index, piece] of piecesOfPrompt(text).entries()) {
    if (index > 0) await nextTurn();
    tokens += count(piece);
  }
  return tokens;
}
