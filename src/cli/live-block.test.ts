import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { LiveBlock } from './live-block.ts';

const esc = '\u001b';
const tokens = new RegExp(`${esc}\\[\\d*[A-Z]|[^${esc}]`, 'g');

/** A terminal that knows what a block uses: line ends, carriage return, cursor up, erase to the end of line and screen. */
class Screen {
  readonly rows = 40;
  lines: string[] = [''];
  #row = 0;
  #column = 0;

  write(text: string): void {
    for (const [token] of text.matchAll(tokens)) this.#take(token);
  }

  #take(token: string): void {
    const line = this.lines[this.#row] ?? '';
    const sequence = /^.\[(\d*)([A-Z])$/.exec(token);
    if (sequence?.[2] === 'A') this.#row = Math.max(0, this.#row - Number(sequence[1] || 1));
    else if (sequence?.[2] === 'K') this.lines[this.#row] = line.slice(0, this.#column);
    else if (sequence?.[2] === 'J') {
      this.lines[this.#row] = line.slice(0, this.#column);
      this.lines.length = this.#row + 1;
    } else if (token === '\r') this.#column = 0;
    else if (token === '\n') {
      this.#row += 1;
      this.#column = 0;
      this.lines[this.#row] ??= '';
    } else {
      this.lines[this.#row] = line.slice(0, this.#column) + token + line.slice(this.#column + 1);
      this.#column += 1;
    }
  }
}

const words = fc.stringMatching(/^[a-z]{0,8}$/);
const step = fc.oneof(
  fc.array(words, { minLength: 1, maxLength: 6 }).map((lines) => ({ redraw: lines })),
  words.map((line) => ({ above: line })),
  fc.constant({ settle: true }),
);

describe('a block of lines', () => {
  property([fc.array(step, { maxLength: 30 })])(
    'stands below all that was written, and leaves nothing behind',
    (steps) => {
      const screen = new Screen();
      const block = new LiveBlock(screen);
      const kept: string[] = [];
      let shown: readonly string[] = [];
      for (const one of steps) {
        if ('redraw' in one) {
          block.redraw(one.redraw);
          shown = one.redraw;
        } else if ('above' in one) {
          block.above(() => screen.write(`${one.above}\n`));
          kept.push(one.above);
        } else {
          block.settle();
          kept.push(...shown);
          shown = [];
        }
        expect(screen.lines).toEqual([...kept, ...(shown.length > 0 ? shown : [''])]);
      }
    },
  );

  it('lets no control character through, and stays within the terminal', () => {
    let written = '';
    const block = new LiveBlock({
      rows: 3,
      write: (text) => {
        written += text;
      },
    });
    block.redraw(['a\u001b[2Jb\u0007', 'c', 'd', 'e']);
    expect(written).not.toContain('\u001b[2J');
    expect(written).not.toContain('\u0007');
    expect(written).not.toContain('d');
  });
});
