import { UsageError } from '../../foundation/errors.ts';

/**
 * The address of a realtime session: ws for http, the path of the API where there is none, and the parameters that
 * select it. Parameters that the URL has stay as they are.
 * @param parameters added where the URL does not name them
 * @param forced take the place of what the URL says
 * @throws UsageError for a URL that is none of http, https, ws, wss
 */
export function realtimeUrl(
  base: string,
  parameters: Readonly<Record<string, string>>,
  forced: Readonly<Record<string, string>> = {},
): string {
  const url = URL.canParse(base) ? new URL(base) : null;
  const scheme = url === null ? null : (schemes[url.protocol] ?? null);
  if (url === null || scheme === null || url.hostname === '')
    throw new UsageError(`Unsupported Realtime URL: '${base}'`);
  const query = new URLSearchParams(url.search);
  for (const [name, value] of Object.entries(parameters)) if (!query.has(name)) query.set(name, value);
  for (const [name, value] of Object.entries(forced)) query.set(name, value);
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
  const path = url.pathname === '/' ? '/v1/realtime' : url.pathname;
  const tail = query.size === 0 ? '' : `?${query}`;
  return `${scheme}//${user}${url.host}${path}${tail}`;
}

const schemes: Readonly<Record<string, string>> = {
  'http:': 'ws:',
  'https:': 'wss:',
  'ws:': 'ws:',
  'wss:': 'wss:',
};
