import { EnvHttpProxyAgent, request } from 'undici';
import { EndpointUnavailableError, messageOf } from '../../foundation/errors.ts';
import type { BenchServeOptions } from './options.ts';

const lookupTimeoutMs = 30_000;
/** A profiler may take long to start and to write its trace. */
const profilerTimeoutMs = 600_000;

/** The calls beside the load: small, unmeasured, through an ordinary client. */
export class ServerCalls {
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;
  readonly #agent: EnvHttpProxyAgent;

  constructor(options: BenchServeOptions) {
    this.#baseUrl = options.baseUrl;
    this.#headers = Object.fromEntries(options.headers);
    const named = new Set(Object.keys(this.#headers).map((name) => name.toLowerCase()));
    if (options.apiKey && !named.has('authorization'))
      this.#headers.Authorization = `Bearer ${options.apiKey}`;
    const tls = { rejectUnauthorized: !options.insecure };
    // The proxies of the environment hold for these calls as they do for the load.
    this.#agent = new EnvHttpProxyAgent({ connect: tls, requestTls: tls });
  }

  /**
   * The first model that the server lists.
   * @returns `served` goes on the wire; `model` names the tokenizer
   * @throws EndpointUnavailableError when there is none, or no server
   */
  async firstModel(): Promise<{ served: string; model: string }> {
    let body: unknown;
    try {
      const reply = await request(`${this.#baseUrl}/v1/models`, {
        headers: this.#headers,
        dispatcher: this.#agent,
        headersTimeout: lookupTimeoutMs,
        bodyTimeout: lookupTimeoutMs,
      });
      if (reply.statusCode !== 200)
        throw new Error(`HTTP ${reply.statusCode}: ${(await reply.body.text()).slice(0, 500)}`);
      body = await reply.body.json();
    } catch (cause) {
      throw new EndpointUnavailableError(
        `Failed to fetch models from server at ${this.#baseUrl}/v1/models: ${messageOf(cause)}. Check that server's URL and try again, or give --model.`,
        { cause },
      );
    }
    const first: unknown =
      typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data)
        ? body.data[0]
        : undefined;
    const id =
      typeof first === 'object' && first !== null && 'id' in first && typeof first.id === 'string'
        ? first.id
        : null;
    if (id === null)
      throw new EndpointUnavailableError(
        `No models found on the server at ${this.#baseUrl}. Make sure the server is running and has models loaded, or give --model.`,
      );
    const root =
      typeof first === 'object' && first !== null && 'root' in first && typeof first.root === 'string'
        ? first.root
        : id;
    return { served: id, model: root };
  }

  /** A plain POST to the server's profiler; any 2xx will do. @returns an error text, or `null` */
  async profiler(action: 'start_profile' | 'stop_profile'): Promise<string | null> {
    try {
      const reply = await request(`${this.#baseUrl}/${action}`, {
        method: 'POST',
        headers: this.#headers,
        dispatcher: this.#agent,
        headersTimeout: profilerTimeoutMs,
        bodyTimeout: profilerTimeoutMs,
      });
      const text = await reply.body.text();
      return reply.statusCode >= 200 && reply.statusCode < 300
        ? null
        : `HTTP ${reply.statusCode}: ${text.slice(0, 500)}`;
    } catch (cause) {
      return messageOf(cause);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
