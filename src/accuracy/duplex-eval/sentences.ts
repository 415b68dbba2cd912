/** A piece of text and when it was said, s on the clock of the input. */
export type TimedDelta = { readonly text: string; readonly timeS: number };

/** A sentence and when it was said, s. */
export type Sentence = { readonly sentence: string; readonly start: number; readonly end: number };

const ends = /[.!?。！？]/;

/**
 * Cuts what was said into sentences: each ends with a mark of its end, begins when its first letter came and ends when
 * its mark came. What is left without a mark is a sentence too.
 */
export function splitSentences(deltas: readonly TimedDelta[]): Sentence[] {
  const sentences: Sentence[] = [];
  let text = '';
  let startS: number | null = null;
  let lastS = 0;
  const flush = (): void => {
    if (text.trim() !== '' && startS !== null)
      sentences.push({ sentence: text.trim(), start: startS, end: Math.max(startS, lastS) });
    text = '';
    startS = null;
  };
  for (const delta of deltas) {
    for (const character of delta.text) {
      if (startS === null && character.trim() !== '') {
        // A mark that follows another belongs to the sentence that has just ended.
        const last = sentences.at(-1);
        if (ends.test(character) && last !== undefined) {
          sentences[sentences.length - 1] = {
            ...last,
            sentence: last.sentence + character,
            end: delta.timeS,
          };
          continue;
        }
        startS = delta.timeS;
      }
      text += character;
      lastS = delta.timeS;
      if (ends.test(character)) flush();
    }
  }
  flush();
  return sentences;
}
