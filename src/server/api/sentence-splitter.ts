/** Ends of sentences, each with the blanks behind it; a full stop between digits is none. */
const sentenceEnd = /(?:[.!?]+["')\]]*(?=\s)|[。！？…]+["'）」』]*|\n)\s*/u;

/** Cuts text that arrives in pieces into sentences. */
export class SentenceSplitter {
  #buffered = '';

  /** Sentences that are complete with this piece. */
  push(text: string): string[] {
    this.#buffered += text;
    const sentences: string[] = [];
    for (let end = sentenceEnd.exec(this.#buffered); end !== null; end = sentenceEnd.exec(this.#buffered)) {
      const at = end.index + end[0].length;
      const sentence = this.#buffered.slice(0, at).trim();
      this.#buffered = this.#buffered.slice(at);
      if (sentence !== '') sentences.push(sentence);
    }
    return sentences;
  }

  /** What is left, as the last sentence; `null` = nothing is. */
  flush(): string | null {
    const rest = this.#buffered.trim();
    this.#buffered = '';
    return rest === '' ? null : rest;
  }

  /** Whether text waits for the end of its sentence. */
  get holdsText(): boolean {
    return this.#buffered.trim() !== '';
  }
}
