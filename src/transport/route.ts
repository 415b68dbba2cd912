import { messageOf } from '../foundation/errors.ts';
import type { ForwardProxy, ProxyRules } from './proxy-rules.ts';
import { basicAuthorization, withoutBrackets } from './proxy-rules.ts';

/** How one URL is reached: worked out once per URL and kept. */
export type Route = {
  /** Connections of one key are interchangeable. */
  readonly originKey: string;
  readonly secure: boolean;
  /** Without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
  /** Value of the `host` header. */
  readonly hostHeader: string;
  /** Path and query; the whole URL where a proxy forwards plain http. */
  readonly requestTarget: string;
  readonly proxy: ForwardProxy | null;
  /** From user information in the URL; `null` = none. */
  readonly authorization: string | null;
  /** Sent with each request through a forwarding proxy; `null` where there is none or the tunnel carries it. */
  readonly proxyAuthorization: string | null;
};

/** Why a URL cannot be used; nothing was sent. */
export type Unroutable = { readonly problem: string };

function routeOf(text: string, rules: ProxyRules): Route | Unroutable {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { problem: `"${text}" is not an absolute URL; expected http://… or https://…` };
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: `"${text}" has the scheme ${url.protocol}//; expected http:// or https://` };
  }
  const secure = url.protocol === 'https:';
  const host = withoutBrackets(url.hostname);
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  try {
    const proxy = rules.proxyFor(secure, host, port);
    const path = `${url.pathname}${url.search}`;
    const forwarded = proxy !== null && !secure;
    return {
      originKey: url.origin,
      secure,
      host,
      port,
      hostHeader: url.host,
      requestTarget: forwarded ? `${url.origin}${path}` : path,
      proxy,
      authorization: basicAuthorization(url),
      proxyAuthorization: forwarded ? proxy.authorization : null,
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Far more URLs than a run uses; polled jobs have one each. */
const keptRoutes = 1024;

/** Resolves URLs to routes and remembers them: a run sends thousands of requests to one URL. */
export class RouteTable {
  readonly #rules: ProxyRules;
  readonly #routes = new Map<string, Route | Unroutable>();

  constructor(rules: ProxyRules) {
    this.#rules = rules;
  }

  find(url: string): Route | Unroutable {
    const known = this.#routes.get(url);
    if (known !== undefined) return known;
    const route = routeOf(url, this.#rules);
    if (this.#routes.size >= keptRoutes) this.#routes.clear();
    this.#routes.set(url, route);
    return route;
  }
}
