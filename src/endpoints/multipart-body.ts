/** One field of a form, in the order in which it is sent. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly filename: string;
      readonly contentType: string;
      readonly bytes: Uint8Array;
    };

/**
 * Encodes a form as `multipart/form-data` (RFC 7578; names escaped as browsers do). Equal parts give equal bytes.
 */
export function multipartBody(parts: readonly FormPart[]): { contentType: string; body: Uint8Array } {
  const boundary = boundaryOutside(parts);
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    pieces.push(Buffer.from(`--${boundary}\r\n${headOf(part)}\r\n\r\n`));
    pieces.push('bytes' in part ? part.bytes : Buffer.from(part.value), Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(pieces) };
}

/** How a field's value is written: objects and lists as JSON, `true` and `false` in lower case. */
export function formText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function headOf(part: FormPart): string {
  const disposition = `Content-Disposition: form-data; name="${escaped(part.name)}"`;
  return 'bytes' in part
    ? `${disposition}; filename="${escaped(part.filename)}"\r\nContent-Type: ${part.contentType}`
    : disposition;
}

function escaped(name: string): string {
  return name.replace(/["\r\n]/g, (character) => encodeURIComponent(character));
}

/** One boundary serves all requests of a run, so that they share their headers; payloads that hold it get another. */
function boundaryOutside(parts: readonly FormPart[]): string {
  for (let number = 0; ; number += 1) {
    const boundary = `omnimeter-form-${String(number).padStart(4, '0')}-7d1f0b64c2a95e38`;
    const holds = (part: FormPart): boolean =>
      'bytes' in part
        ? Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength).includes(boundary)
        : part.value.includes(boundary);
    if (!parts.some(holds)) return boundary;
  }
}
