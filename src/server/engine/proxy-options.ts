import { z } from 'zod';
import { UsageError } from '../../foundation/errors.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';

/** How the remote server of a stage is reached. */
export type ProxyOptions = {
  /** Without `/v1` and without a slash at its end. */
  readonly origin: string;
  /** The remote server's own name of the model. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest silence of the remote server, before its first byte and between two, ms. */
  readonly timeoutMs: number;
  /** Between two questions after a video job, ms. */
  readonly pollMs: number;
};

const defaultTimeoutS = 600;
const text = z.string('must be a text').min(1, 'must not be empty');

const optionsSchema = z.strictObject({
  base_url: text,
  model: text,
  api_key_env: text.optional(),
  headers: z.record(z.string(), z.string('must be a text'), 'must be an object of texts').optional(),
  timeout_s: z
    .number('must be a number')
    .positive('must be above 0')
    .max(86400, 'must be at most 86400')
    .optional(),
  poll_interval_s: z
    .number('must be a number')
    .positive('must be above 0')
    .max(3600, 'must be at most 3600')
    .optional(),
});

const known = Object.keys(optionsSchema.shape);

function problemOf(issue: z.core.$ZodIssue | undefined, given: Readonly<Record<string, unknown>>): string {
  if (issue?.code === 'unrecognized_keys')
    return `no option "${issue.keys.join('", "')}". Options: ${known.join(', ')}.`;
  const [key = ''] = issue?.path ?? [];
  if (given[String(key)] === undefined) return `${String(key)} is missing.`;
  return `${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? 'is invalid'}.`;
}

/** @throws UsageError through `fail` where it is not the address of a server */
function originOf(baseUrl: string, fail: (problem: string) => UsageError): string {
  const url = URL.parse(baseUrl);
  // The address itself is not repeated: it may hold a password.
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw fail('base_url must be an address as http://host:port/v1.');
  if (url.username !== '' || url.password !== '')
    throw fail('base_url must hold no user or password; name a key with api_key_env.');
  if (url.search !== '' || url.hash !== '') throw fail('base_url must have no query and no fragment.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/**
 * Reads `engine: {name: proxy, …}` of a stage. The key itself stays in the environment, and out of every message.
 * @throws UsageError for a missing, unknown or bad option, and a variable that is not set
 */
export function readProxyOptions(
  stage: StageDefinition,
  env: Readonly<Record<string, string | undefined>>,
): ProxyOptions {
  const fail = (problem: string): UsageError =>
    new UsageError(`Stage ${stage.stageId} (${stage.name}), engine proxy: ${problem}`);
  const result = optionsSchema.safeParse(stage.engine.options);
  if (!result.success) throw fail(problemOf(result.error.issues[0], stage.engine.options));
  const {
    base_url,
    model,
    api_key_env,
    headers = {},
    timeout_s = defaultTimeoutS,
    poll_interval_s = 1,
  } = result.data;
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw fail(`headers.${name} is not a header that can be sent.`);
    }
  }
  const key = api_key_env === undefined ? null : (env[api_key_env] ?? '');
  if (key === '') throw fail(`api_key_env names ${api_key_env}, which is not set in the environment.`);
  return {
    origin: originOf(base_url, fail),
    model,
    headers: key === null ? headers : { ...headers, authorization: `Bearer ${key}` },
    timeoutMs: timeout_s * 1000,
    pollMs: poll_interval_s * 1000,
  };
}
