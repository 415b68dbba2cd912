/** Most bytes of status line, headers and trailers, interim responses included. Node's own client stops at 16 KiB. */
export const maxHeadBytes = 64 * 1024;

/** Why a reply that asks to be decompressed is refused; `null` = it does not ask. */
export function compressionProblem(headers: ReadonlyMap<string, string>): string | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase();
  if (coding === undefined || coding === '' || coding === 'identity') return null;
  return `the server compressed the reply (content-encoding: ${coding}) although the request said accept-encoding: identity; turn compression off for this path, since it distorts the times of a stream`;
}

/** Why a body's transfer coding cannot be read; `null` = it can. */
export function transferCodingProblem(headers: ReadonlyMap<string, string>): string | null {
  const coding = headers.get('transfer-encoding');
  if (coding === undefined || coding.toLowerCase() === 'chunked') return null;
  return `the reply has the transfer-encoding ${JSON.stringify(coding.slice(0, 60))}; only chunked is read`;
}
