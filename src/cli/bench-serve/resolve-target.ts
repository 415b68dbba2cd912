import type { Endpoint } from '../../endpoints/endpoint.ts';
import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { backendsNamedByPath } from '../known-names.ts';

/** What choosing an endpoint needs to know of one. */
export type EndpointFacts = Pick<
  Endpoint,
  | 'name'
  | 'doc'
  | 'apiName'
  | 'defaultPath'
  | 'urlSuffixes'
  | 'samplingParameters'
  | 'refusedSampling'
  | 'takesBotTask'
  | 'task'
>;

/** Adapters by the name that `--backend` takes. */
export type EndpointCatalogue = Readonly<Record<string, EndpointFacts>>;

type TargetFlags = {
  readonly backend: string;
  readonly endpoint: string | null;
  readonly 'base-url': string | null;
  readonly host: string;
  readonly port: number;
};

/** Where requests go, and in which dialect. */
export type ResolvedTarget = {
  readonly backend: string;
  readonly facts: EndpointFacts;
  readonly baseUrl: string;
  readonly endpointPath: string;
};

/**
 * Chooses the adapter and URL. A backend that is not named is inferred from the image and video paths only; a path
 * that is not given is the backend's own.
 * @throws UsageError for a backend that is unknown or not available, and for a URL that is not the backend's
 */
export function resolveTarget(
  flags: TargetFlags,
  explicit: ReadonlySet<string>,
  endpoints: EndpointCatalogue,
): ResolvedTarget {
  const given = flags.endpoint === null ? null : withSlash(flags.endpoint.trim());
  const backend = inferBackend(flags.backend, explicit.has('backend'), given);
  const facts = findEndpoint(backend, endpoints);
  const baseUrl = baseUrlOf(flags);
  const endpointPath = given ?? facts.defaultPath;
  if (given !== null && !(explicit.has('backend') && flags.backend !== '')) checkPath(given, backend, facts);
  checkUrl(baseUrl + endpointPath, facts, backend);
  return { backend, facts, baseUrl, endpointPath };
}

function withSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function inferBackend(backend: string, explicit: boolean, path: string | null): string {
  if (explicit && backend !== '') return backend;
  return path !== null && backendsNamedByPath.includes(path) ? path : backend || 'openai';
}

function findEndpoint(backend: string, endpoints: EndpointCatalogue): EndpointFacts {
  const facts = Object.hasOwn(endpoints, backend) ? endpoints[backend] : undefined;
  if (facts !== undefined) return facts;
  const available = `Available backends: ${Object.keys(endpoints).join(', ')}`;
  const nearest = nearestName(backend, Object.keys(endpoints));
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(`Unknown backend: ${backend}.${slip}\n${available}`);
}

function baseUrlOf(flags: TargetFlags): string {
  if (flags['base-url'] !== null) {
    const baseUrl = flags['base-url'].replace(/\/+$/, '');
    if (URL.canParse(baseUrl) && /^https?:\/\//i.test(baseUrl)) return baseUrl;
    throw new UsageError(
      `--base-url: '${flags['base-url']}' is no URL. Expected http:// or https:// and a host, e.g. http://127.0.0.1:8000.`,
    );
  }
  const host = flags.host.includes(':') && !flags.host.startsWith('[') ? `[${flags.host}]` : flags.host;
  const baseUrl = `http://${host}:${flags.port}`;
  if (URL.canParse(baseUrl) && !/[\s/?#@]/.test(host)) return baseUrl;
  throw new UsageError(`--host: '${flags.host}' is no host name or address.`);
}

/** A path that was to choose the adapter, and chooses none. */
function checkPath(path: string, backend: string, facts: EndpointFacts): void {
  if (path === backend || [...facts.urlSuffixes, 'profile'].some((suffix) => path.endsWith(suffix))) return;
  const nearest = nearestName(path.replace(/\/+$/, ''), backendsNamedByPath);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `--endpoint ${path} names no adapter, and no --backend does.${slip}\n` +
      `Paths that choose one: ${backendsNamedByPath.join(', ')}. For any other path name the --backend.`,
  );
}

function checkUrl(url: string, facts: EndpointFacts, backend: string): void {
  const suffixes = [...new Set([...facts.urlSuffixes, 'profile'])];
  if (!suffixes.some((suffix) => url.endsWith(suffix))) {
    const set = suffixes.map((suffix) => `'${suffix}'`).join(', ');
    throw new UsageError(
      `${facts.apiName} URL must end with one of: {${set}}.\nGot ${url} for --backend ${backend}.`,
    );
  }
  // `chat/completions` ends with `completions` too, and such a run can only fail, request by request.
  if (url.endsWith('/chat/completions') && !facts.urlSuffixes.some((suffix) => suffix.startsWith('chat/')))
    throw new UsageError(
      `${facts.apiName} URL must end with one of: {'completions', 'profile'}, and ${url} takes chat messages. Name a chat backend: --backend openai-chat, or openai-chat-omni for speech, images and stages.`,
    );
}
