import { inertText } from '../report/sanitize-for-terminal.ts';

/** What a block needs of a terminal. */
export type Terminal = { write(text: string): unknown; readonly rows?: number };

/** Lines at the end of a terminal's output that are redrawn in place. Other lines are written above them. */
export class LiveBlock {
  readonly #terminal: Terminal;
  #lines: readonly string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Replaces the block; no line may be wider than the terminal. What does not fit its height is left out. */
  redraw(lines: readonly string[]): void {
    const before = this.#toStart();
    this.#lines = lines.slice(0, Math.max((this.#terminal.rows ?? 24) - 1, 1)).map(inertText);
    this.#terminal.write(`${before}${this.#drawn()}`);
  }

  /** The block stays as it is; what follows stands below it. */
  settle(): void {
    if (this.#lines.length === 0) return;
    this.#lines = [];
    this.#terminal.write('\n');
  }

  /** Writes something that stays, above the block. */
  above(write: () => void): void {
    if (this.#lines.length === 0) {
      write();
      return;
    }
    this.#terminal.write(`${this.#toStart()}\u001b[J`);
    write();
    this.#terminal.write(this.#drawn());
  }

  #toStart(): string {
    const up = this.#lines.length - 1;
    return up > 0 ? `\r\u001b[${up}A` : '\r';
  }

  /** Each line clears what stood behind it, the last what stood below. */
  #drawn(): string {
    return `${this.#lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`;
  }
}
