import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../foundation/errors.ts';
import type { ApiContext } from './api-context.ts';
import { RequestError } from './request-error.ts';

type MediaRules = Pick<ApiContext, 'limits' | 'localMediaRoot'>;

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

/** Base64 with its padding; blanks and line breaks are let through, as decoders do. */
const base64Form = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Bytes of a base64 text.
 * @throws RequestError 400
 */
export function decodeBase64(text: string, param: string, mostBytes: number): Buffer {
  const bare = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  if (bare === '' || bare.length % 4 === 1 || !base64Form.test(bare))
    throw new RequestError(400, `${param}: not valid base64.`, param);
  if (bare.length * 0.75 > mostBytes + 3) throw tooLarge(param, mostBytes);
  return Buffer.from(bare, 'base64');
}

function tooLarge(param: string, mostBytes: number): RequestError {
  return new RequestError(413, `${param}: media larger than ${megabytes(mostBytes)} are not taken.`, param);
}

function fromDataUrl(url: string, param: string, { limits }: MediaRules): Buffer {
  const comma = url.indexOf(',');
  if (comma < 0) throw new RequestError(400, `${param}: a data: URL needs a comma before its data.`, param);
  const data = url.slice(comma + 1);
  if (/;base64$/i.test(url.slice(0, comma))) return decodeBase64(data, param, limits.mediaBytes);
  try {
    return Buffer.from(decodeURIComponent(data), 'latin1');
  } catch {
    throw new RequestError(400, `${param}: the data: URL is neither base64 nor percent-encoded.`, param);
  }
}

/** The same for what is missing and what is forbidden, so that nobody learns which files there are. */
function noSuchFile(param: string): RequestError {
  return new RequestError(
    400,
    `${param}: this file cannot be read. file: URLs must name a readable file inside the folder of ` +
      '--allowed-local-media-path.',
    param,
  );
}

async function fromFile(url: string, param: string, { limits, localMediaRoot }: MediaRules): Promise<Buffer> {
  if (localMediaRoot === null)
    throw new RequestError(
      400,
      `${param}: this server reads no local files; start it with --allowed-local-media-path FOLDER to allow some.`,
      param,
    );
  let path: string;
  try {
    path = fileURLToPath(url);
  } catch (error) {
    throw new RequestError(400, `${param}: not a file: URL of this host (${messageOf(error)}).`, param);
  }
  let real: string;
  try {
    real = await realpath(resolve(localMediaRoot, path));
  } catch {
    throw noSuchFile(param);
  }
  if (!real.startsWith(localMediaRoot.endsWith(sep) ? localMediaRoot : localMediaRoot + sep))
    throw noSuchFile(param);
  return readWithin(real, param, limits.mediaBytes);
}

/** Reads the file that was checked: no link is followed that may have taken its place since. */
async function readWithin(path: string, param: string, mostBytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  );
  if (file === null) throw noSuchFile(param);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw noSuchFile(param);
    if (facts.size > mostBytes) throw tooLarge(param, mostBytes);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** A URL for messages: without a name and password in it. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 200);
}

/** @throws RequestError 400 for a host that the server's owner has not allowed */
function checkHost(url: string, param: string, hosts: readonly string[] | null): void {
  if (!URL.canParse(url)) throw new RequestError(400, `${param}: not a valid URL.`, param);
  const host = new URL(url).hostname;
  if (hosts === null || hosts.includes(host)) return;
  throw new RequestError(
    400,
    `${param}: this server fetches no media from ${host}; it was started with --allowed-media-domains.`,
    param,
  );
}

async function fromNetwork(url: string, param: string, { limits }: MediaRules): Promise<Buffer> {
  checkHost(url, param, limits.mediaHosts);
  const { request } = await import('undici');
  try {
    const signal = AbortSignal.timeout(limits.fetchTimeoutMs);
    const { statusCode, body } = await request(url, { signal, headers: { accept: '*/*' } });
    if (statusCode !== 200) {
      // Destroying it is an error of its own, which nobody else hears.
      body.on('error', () => {});
      body.destroy();
      throw new RequestError(400, `${param}: ${shown(url)} answered ${statusCode}.`, param);
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of body) {
      const piece = Buffer.from(part);
      bytes += piece.length;
      if (bytes > limits.mediaBytes) {
        body.destroy();
        throw tooLarge(param, limits.mediaBytes);
      }
      parts.push(piece);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(400, `${param}: ${shown(url)} could not be fetched (${messageOf(error)}).`, param);
  }
}

/**
 * Bytes of media that a request names: a data:, http:, https: or file: URL.
 * @param param field of the request, for messages
 * @throws RequestError 400, or 413 for what is too large
 */
export async function mediaBytes(url: string, param: string, rules: MediaRules): Promise<Buffer> {
  if (/^data:/i.test(url)) return fromDataUrl(url, param, rules);
  if (/^https?:/i.test(url)) return fromNetwork(url, param, rules);
  if (/^file:/i.test(url)) return fromFile(url, param, rules);
  throw new RequestError(400, `${param} must be a data:, http:, https: or file: URL.`, param);
}
