import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The process environment, or what a test puts in its place. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How to reach the model hub and where its files are cached, as the hub's own Python client reads it. */
export type HubEnvironment = {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly cacheFolder: string;
  readonly token: string | null;
  /** Ask nobody; only the cache counts. */
  readonly offline: boolean;
  /** The variable that says so; `null` = none does. */
  readonly offlineBy: string | null;
  readonly proxies: {
    readonly http: string | null;
    readonly https: string | null;
    readonly no: string | null;
  };
};

/** `~` and `~/…` are the home folder, as shells and the hub's client have it. */
export function expandHome(path: string, env: Environment): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  return join(env.HOME ?? homedir(), path.slice(1));
}

function given(env: Environment, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== '') return value;
  }
  return null;
}

function isTrue(value: string | null): boolean {
  return value !== null && ['1', 'ON', 'YES', 'TRUE'].includes(value.toUpperCase());
}

function readToken(env: Environment, home: string): string | null {
  if (isTrue(given(env, 'HF_HUB_DISABLE_IMPLICIT_TOKEN'))) return null;
  const stated = given(env, 'HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN');
  if (stated !== null) return stated.trim();
  try {
    const path = expandHome(given(env, 'HF_TOKEN_PATH') ?? join(home, 'token'), env);
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    // Nobody logged in on this machine; public models need no token.
    return null;
  }
}

/** The first of the two that is set decides, as in the hub's own client. */
function offlineVariable(env: Environment): string | null {
  const name = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'].find((each) => given(env, each) !== null);
  return name !== undefined && isTrue(given(env, name)) ? name : null;
}

/** Reads HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN (or the token file), HF_HUB_OFFLINE and the proxies. */
export function hubEnvironment(env: Environment): HubEnvironment {
  const caches = given(env, 'XDG_CACHE_HOME') ?? '~/.cache';
  const home = expandHome(given(env, 'HF_HOME') ?? join(caches, 'huggingface'), env);
  const cache = given(env, 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE') ?? join(home, 'hub');
  const offlineBy = offlineVariable(env);
  return {
    endpoint: (given(env, 'HF_ENDPOINT') ?? 'https://huggingface.co').replace(/\/+$/, ''),
    cacheFolder: expandHome(cache, env),
    token: readToken(env, home),
    offline: offlineBy !== null,
    offlineBy,
    proxies: {
      http: given(env, 'http_proxy', 'HTTP_PROXY'),
      https: given(env, 'https_proxy', 'HTTPS_PROXY'),
      no: given(env, 'no_proxy', 'NO_PROXY'),
    },
  };
}
