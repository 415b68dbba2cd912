import type { AlignedWord } from './transcript.ts';

const chinese = /[\u4e00-\u9fff]/;

/** What stands between words: nothing where the text is Chinese. */
export function separatorOf(words: readonly AlignedWord[]): string {
  return words.some(({ text }) => chinese.test(text)) ? '' : ' ';
}

/** Words as a text. */
export function joinWords(words: readonly AlignedWord[]): string {
  return words.map(({ text }) => text).join(separatorOf(words));
}
