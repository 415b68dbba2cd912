import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { InputFileError, messageOf } from '../foundation/errors.ts';

/** A row of a CSV file by its header's names, and the line that it starts in. */
export type CsvRow = { readonly line: number; get(column: string): string | undefined };

export type CsvReading = {
  /** Called once, before any row; throws where columns are missing. */
  header?(columns: readonly string[]): void;
  row(row: CsvRow): void;
};

const pieceBytes = 1024 * 1024;

/** Splits text into the fields of rows (RFC 4180): quotes, doubled quotes, line ends in quotes, CRLF. */
export class CsvSplitter {
  readonly #take: (fields: string[], line: number) => void;
  #fields: string[] = [];
  #field = '';
  #inQuotes = false;
  #quoted = false;
  #line = 1;
  #rowLine = 1;
  #afterQuote = false;
  /** So many characters of the field were in quotes: a carriage return among them is the field's own. */
  #quotedLength = 0;

  constructor(take: (fields: string[], line: number) => void) {
    this.#take = take;
  }

  push(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x0a) this.#line += 1;
      if (this.#afterQuote) {
        this.#afterQuote = false;
        if (code === 0x22) {
          this.#field += '"';
          from = at + 1;
          continue;
        }
        this.#inQuotes = false;
        this.#quotedLength = this.#field.length;
        from = at;
      }
      if (this.#inQuotes) {
        if (code !== 0x22) continue;
        this.#field += text.slice(from, at);
        this.#afterQuote = true;
        from = at + 1;
      } else if (code === 0x22 && this.#field === '' && from === at) {
        this.#inQuotes = true;
        this.#quoted = true;
        from = at + 1;
      } else if (code === 0x2c) {
        this.#endField(text.slice(from, at));
        from = at + 1;
      } else if (code === 0x0a) {
        this.#endLastField(text.slice(from, at));
        this.#endRow();
        from = at + 1;
      }
    }
    this.#field += this.#afterQuote ? '' : text.slice(from);
  }

  /** @throws Error where a quote was never closed */
  finish(): void {
    if (this.#inQuotes && !this.#afterQuote)
      throw new Error(`a quoted field that starts in line ${this.#rowLine} never ends`);
    if (this.#field === '' && this.#fields.length === 0 && !this.#quoted) return;
    if (this.#afterQuote) this.#quotedLength = this.#field.length;
    this.#endLastField('');
    this.#endRow();
  }

  /** A carriage return before the line feed, or before the file's end, belongs to the line end. */
  #endLastField(rest: string): void {
    const field = this.#field + rest;
    const isLineEnd = field.length > this.#quotedLength && field.endsWith('\r');
    this.#field = isLineEnd ? field.slice(0, -1) : field;
    this.#endField('');
  }

  #endField(rest: string): void {
    this.#fields.push(this.#field + rest);
    this.#field = '';
    this.#quoted = false;
    this.#quotedLength = 0;
  }

  #endRow(): void {
    const fields = this.#fields;
    this.#fields = [];
    const blank = fields.length === 1 && fields[0] === '';
    if (!blank) this.#take(fields, this.#rowLine);
    this.#rowLine = this.#line;
  }
}

/**
 * Reads a CSV file with a header, of any size, row by row.
 * @throws InputFileError for a file that cannot be read
 */
export async function readCsv(path: string, reading: CsvReading): Promise<void> {
  let places: Map<string, number> | null = null;
  const splitter = new CsvSplitter((fields, line) => {
    if (places === null) {
      const columns = fields.map((name) => name.replace(/^\uFEFF/, '').trim());
      places = new Map(columns.map((name, index) => [name, index]));
      reading.header?.(columns);
      return;
    }
    const known = places;
    reading.row({ line, get: (column) => fields[known.get(column) ?? -1] });
  });
  try {
    await eachText(path, (text) => splitter.push(text));
    splitter.finish();
  } catch (cause) {
    if (cause instanceof InputFileError) throw cause;
    throw new InputFileError(`--dataset-path ${path}: ${messageOf(cause)}.`, { cause });
  }
}

async function eachText(path: string, take: (text: string) => void): Promise<void> {
  const file = await open(path);
  try {
    const decoder = new StringDecoder('utf8');
    const buffer = Buffer.allocUnsafe(pieceBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, pieceBytes);
      if (bytesRead === 0) break;
      take(decoder.write(buffer.subarray(0, bytesRead)));
    }
    take(decoder.end());
  } finally {
    await file.close();
  }
}

/** A whole number ≥ 0 that a field holds, also as `12.0`; `null` where it holds none. */
export function countOf(text: string | undefined): number | null {
  if (text === undefined || !/^\s*\d+(\.0*)?\s*$/.test(text)) return null;
  return Number(text);
}
