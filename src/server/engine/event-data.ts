/** Most characters of one event: more is no event of this kind, and would fill the memory. */
const mostChars = 64 * 1024 * 1024;

/**
 * The data of server-sent events, as the bytes come in any pieces. An event that the stream's end cuts off is none.
 * @throws Error for an event beyond all measure
 */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let chars = 0;
  for await (const piece of bytes) {
    rest += decoder.decode(piece, { stream: true });
    // A carriage return at the very end may be the first half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length + chars > mostChars) throw new Error('an event is longer than 64 MiB');
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
        chars = 0;
      } else if (line === 'data' || line.startsWith('data:')) {
        data.push(line.slice(5).replace(/^ /, ''));
        chars += line.length;
      }
    }
  }
}
