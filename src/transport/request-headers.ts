import type { Route, Unroutable } from './route.ts';
import type { HttpRequest } from './transport.ts';

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlPattern = /[\u0000-\u0008\u000a-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const asciiPattern = /^[\u0000-\u007f]*$/;

/** Headers that say how the message is framed; a caller's value could only break it. */
const ownHeaders = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade', 'te', 'trailer']);

/** Header values go out as UTF-8, as Python's aiohttp sends them; this is that value in latin1 characters. */
export function wireValue(value: string): string {
  return asciiPattern.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
}

/** What keeps a header from being sent, or `null`. */
export function headerProblem(name: string, value: string): string | null {
  if (!tokenPattern.test(name)) return `the request header name ${JSON.stringify(name)} is not valid in HTTP`;
  if (controlPattern.test(value)) {
    return `the value of the request header ${name} holds a line break or another control character`;
  }
  if (ownHeaders.has(name.toLowerCase()))
    return `the request header ${name} is set by the client; leave it out`;
  return null;
}

/**
 * All headers of a request in the order in which they are sent, as a flat list of names and values in latin1
 * characters. A caller's `host`, `connection`, `accept-encoding` or `authorization` takes the place of ours.
 */
export function requestHeaders(
  request: HttpRequest,
  route: Route,
  keepAlive: boolean,
): readonly string[] | Unroutable {
  if (!tokenPattern.test(request.method))
    return { problem: `${JSON.stringify(request.method)} is no HTTP method` };
  const given = new Set<string>();
  const list: string[] = [];
  for (const [name, value] of request.headers) {
    const problem = headerProblem(name, value);
    if (problem !== null) return { problem };
    given.add(name.toLowerCase());
    list.push(name, wireValue(value));
  }
  const ours: string[] = [];
  const add = (name: string, value: string | null): void => {
    if (value !== null && !given.has(name)) ours.push(name, value);
  };
  add('host', route.hostHeader);
  add('authorization', route.authorization);
  add('proxy-authorization', route.proxyAuthorization);
  add('accept-encoding', 'identity');
  add('connection', keepAlive ? 'keep-alive' : 'close');
  const bodyBytes = request.body?.byteLength ?? 0;
  const needsLength = bodyBytes > 0 || (request.method !== 'GET' && request.method !== 'HEAD');
  if (needsLength) ours.push('content-length', String(bodyBytes));
  return [...ours, ...list];
}
