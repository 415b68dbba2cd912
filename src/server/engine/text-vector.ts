/** Words of a text, in lower case; of writing without blanks, each character. */
function wordsOf(text: string): string[] {
  return (
    text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? []
  );
}

/** FNV-1a, 32 bit. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  // The last letters of a word reach the upper bits only by this.
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

/**
 * A vector of length 1 for a text, by feature hashing (Weinberger and others, 2009) of its words and of the three
 * letters at each place in them: equal texts have equal vectors, and texts that share words have near ones.
 */
export function textVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature);
    const slot = hash % dimensions;
    vector[slot] = (vector[slot] ?? 0) + ((hash >>> 16) % 2 === 0 ? weight : -weight);
  };
  // A text without words has a vector as well.
  add('', 0.01);
  for (const word of wordsOf(text)) {
    add(word, 1);
    const framed = `^${word}$`;
    for (let i = 0; i + 3 <= framed.length; i += 1) add(framed.slice(i, i + 3), 0.25);
  }
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  return norm === 0 ? vector.fill(1 / Math.sqrt(dimensions)) : vector.map((value) => value / norm);
}

/** How well a document answers a query, 0 to 1: more the more of the query's words it has. */
export function textRelevance(query: string, document: string): number {
  const a = textVector(query, 4096);
  const b = textVector(document, 4096);
  let cosine = 0;
  for (const [slot, value] of a.entries()) cosine += value * (b[slot] ?? 0);
  return 1 / (1 + Math.exp(-10 * (cosine - 0.3)));
}
