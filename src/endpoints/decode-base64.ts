const dataUrl = /^data:[^,]{0,255};base64,/i;

type Base64Leniency = {
  /**
   * Padding may be missing wherever the text can be of the URL-safe alphabet, also where none of its own characters
   * shows that; for payloads that prove their completeness themselves. Default: only where one does.
   */
  readonly mayLackPadding?: boolean;
};

/**
 * Bytes of base64 as servers really write it: line breaks, the URL-safe alphabet (which may leave out the padding) and
 * the head of a data URL are accepted.
 * @returns `null` where the text is no base64 to its last character, e.g. because it was cut: Node's own decoder skips
 * what does not belong and says nothing
 */
export function decodeBase64(text: string, { mayLackPadding = false }: Base64Leniency = {}): Buffer | null {
  let body = text;
  if (body.startsWith('data:') || body.startsWith('DATA:')) body = body.replace(dataUrl, '');
  const strict = fromStrict(body);
  if (strict !== null) return strict;
  body = body.replace(/\s+/g, '');
  const isUrlSafe = mayLackPadding ? !/[+/]/.test(body) : /[-_]/.test(body);
  const rest = body.length % 4;
  if (isUrlSafe && rest > 1 && !body.endsWith('=')) body += '='.repeat(4 - rest);
  return fromStrict(body);
}

/** Node's decoder knows both alphabets; a short result is the only trace of what it skipped. */
function fromStrict(text: string): Buffer | null {
  if (text.length % 4 !== 0) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Buffer.byteLength(text, 'base64') ? bytes : null;
}
