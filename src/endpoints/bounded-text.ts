/** Longest text of one failure that is kept, characters: a server may send any length, for every request of a run. */
const mostChars = 20_000;

/** The beginning of a server's words, with their whole length where they were cut. */
export function boundedText(text: string): string {
  return text.length <= mostChars ? text : `${text.slice(0, mostChars)}… (${text.length} characters)`;
}
