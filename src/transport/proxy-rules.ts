import { BlockList, isIP, isIPv4 } from 'node:net';

/** A forward proxy to reach a server through. */
export type ForwardProxy = {
  /** Spoken to over TLS. */
  readonly secure: boolean;
  /** Without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
  /** Value of `proxy-authorization`; `null` = none. */
  readonly authorization: string | null;
};

export type ProxyRules = {
  /**
   * The proxy for a server, or `null` for a direct connection.
   * @throws Error when the environment names a proxy that cannot be used; says which and why
   */
  proxyFor(secure: boolean, host: string, port: number): ForwardProxy | null;
};

type Env = Readonly<Record<string, string | undefined>>;

/** Lower case wins, as in curl and in Python's urllib. An empty value counts as unset. */
function variable(env: Env, name: string): { name: string; value: string } | null {
  for (const spelled of [name, name.toUpperCase()]) {
    const value = env[spelled]?.trim();
    if (value) return { name: spelled, value };
  }
  return null;
}

/** `Basic …` of a URL's user information; `null` = it has none. */
export function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  const plain = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(plain, 'utf8').toString('base64')}`;
}

/** `[::1]` → `::1`: names and IPv4 addresses stay as they are. */
export function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function parseProxy({ name, value }: { name: string; value: string }): ForwardProxy {
  const expected = `expected http://[user:password@]host[:port] or https://…`;
  let url: URL;
  try {
    url = new URL(value.includes('://') ? value : `http://${value}`);
  } catch {
    throw new Error(`the proxy in the environment variable ${name} is not a URL; ${expected}`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(
      `the proxy in the environment variable ${name} is of the unsupported kind ${url.protocol}//; ${expected}, or name the server in no_proxy`,
    );
  }
  const secure = url.protocol === 'https:';
  return {
    secure,
    host: withoutBrackets(url.hostname),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authorization: basicAuthorization(url),
  };
}

/** Whether one entry of no_proxy covers a server. */
type Exemption = (host: string, port: number) => boolean;

function networkExemption(address: string, bits: string): Exemption | null {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (isIP(address) === 0 || prefix < 0 || prefix > (family === 'ipv4' ? 32 : 128)) return null;
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return (host) => isIP(host) !== 0 && list.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');
}

function exemption(entry: string): Exemption {
  if (entry === '*') return () => true;
  const [address = '', bits] = entry.split('/');
  if (bits !== undefined) return networkExemption(withoutBrackets(address), bits) ?? (() => false);
  const withPort = isIP(entry) === 0 ? /^(.*):(\d+)$/.exec(entry) : null;
  const name = withoutBrackets(withPort?.[1] ?? entry).replace(/^\*?\./, '');
  const onlyPort = withPort === null ? null : Number(withPort[2]);
  return (host, port) =>
    (onlyPort === null || onlyPort === port) &&
    (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)));
}

/**
 * Reads http_proxy, https_proxy, all_proxy and no_proxy (either case) as curl and Python's urllib do: no_proxy is a
 * list of `*`, names (which cover their subdomains), addresses and networks (`10.0.0.0/8`), each with an optional
 * port. Nothing is exempt by itself, not even localhost.
 */
export function proxyRules(env: Env): ProxyRules {
  const exemptions = (variable(env, 'no_proxy')?.value ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(exemption);
  return {
    proxyFor(secure, host, port) {
      const named = variable(env, secure ? 'https_proxy' : 'http_proxy') ?? variable(env, 'all_proxy');
      if (named === null || exemptions.some((covers) => covers(host.toLowerCase(), port))) return null;
      return parseProxy(named);
    },
  };
}
