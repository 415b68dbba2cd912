import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters counted in one turn: one to two ms of a tokenizer in JavaScript. */
const charsPerTurn = 1024;
/** Longest piece: one without a border is cut where it is, for it would stop all other requests meanwhile. */
const longestPiece = 8 * charsPerTurn;
/** A blank between two ASCII letters: in the vocabularies served here a word border never joins to one token. */
const wordBorder = /[A-Za-z] (?=[A-Za-z])/g;

/** Where a piece that starts at `start` ends. */
function endOfPiece(text: string, start: number, mostChars: number, longest: number): number {
  const window = text.slice(0, start + longest);
  wordBorder.lastIndex = start + mostChars;
  const border = wordBorder.exec(window);
  if (border !== null) return border.index + 1;
  if (window.length === text.length) return text.length;
  const isHighSurrogate = (text.charCodeAt(window.length - 1) & 0xfc00) === 0xd800;
  return isHighSurrogate ? window.length - 1 : window.length;
}

/**
 * Cuts a text into pieces whose tokens add up to those of the whole. Only text of more than `longest` characters
 * without two English words in a row is cut anywhere, which may count one token more per cut.
 */
export function* piecesOfPrompt(
  text: string,
  mostChars = charsPerTurn,
  longest = longestPiece,
): Generator<string> {
  let start = 0;
  while (text.length - start > mostChars) {
    const end = endOfPiece(text, start, mostChars, longest);
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}

/**
 * Tokens of a text, counted a piece per turn of the event loop: a prompt of thousands of tokens takes tens of ms,
 * in which the streams of other requests must not stand still.
 * @param most what is beyond it is not counted: the text is refused, and its first pieces say so
 */
export async function countPromptTokens(
  text: string,
  count: (text: string) => number,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let tokens = 0;
  let isFirst = true;
  for (const piece of piecesOfPrompt(text)) {
    if (!isFirst) await nextTurn();
    isFirst = false;
    tokens += count(piece);
    if (tokens > most) break;
  }
  return tokens;
}
