/** The line that says where a server listens; {@link serverUrlIn} reads it. */
export function listeningLine(url: string): string {
  return `server ready: ${url}`;
}

/** The URL of a {@link listeningLine}, or `null`. */
export function serverUrlIn(line: string): string | null {
  return /^server ready: (https?:\/\/\S+)$/.exec(line.trim())?.[1] ?? null;
}
