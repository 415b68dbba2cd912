import { asArray, type JsonObject, positiveInteger } from './json-values.ts';

/**
 * Tokens that each chunk brought: the advance of the cumulative usage; else the length of its `token_ids`; else 1
 * for content of a chunk that carried no usage; else not known.
 */
export class TokenCounter {
  #seen = 0;

  count(message: JsonObject, choice: JsonObject, hasContent: boolean): number | null {
    const usage = message.usage as JsonObject | null | undefined;
    const completion = usage ? usage.completion_tokens : undefined;
    const reported = typeof completion === 'number' ? completion : positiveInteger(completion);
    if (reported !== null && reported > this.#seen) {
      const delta = reported - this.#seen;
      this.#seen = reported;
      return delta;
    }
    const ids = asArray(choice.token_ids).length;
    if (ids > 0) {
      this.#seen += ids;
      return ids;
    }
    return hasContent && (completion === undefined || completion === null) ? 1 : null;
  }
}
