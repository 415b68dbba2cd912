import { z } from 'zod';
import { UsageError } from '../../foundation/errors.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import type { PlainObject } from './deep-merge.ts';

/** What carries payloads from one stage to another, as a deployment wants it. */
export type EdgeTransport = {
  readonly from: number;
  readonly to: number;
  /** Of the connector in the file; `null` = none is named. */
  readonly connectorName: string | null;
  /** `null` = shared memory between processes of one host, the broker between hosts. */
  readonly kind: 'in-process' | 'shared-memory' | 'nats' | null;
  /** Also between stages of one process, which else hand over by reference. */
  readonly always: boolean;
  /** Added to what the transport really takes, ms. */
  readonly latencyMs: number;
  /** `null` = as fast as it is. */
  readonly bytesPerMs: number | null;
  /** Room for payloads that wait in shared memory; `null` = default. */
  readonly ringBytes: number | null;
  /** Broker of a NATS connector where `--omni-master-address` names none, as `nats://host:port`; `null` = none. */
  readonly url: string | null;
};

/** A connector as a deployment file names it. */
export type ConnectorEntry = { readonly name: string; readonly extra?: PlainObject | undefined };

const kinds: Readonly<Record<string, EdgeTransport['kind']>> = {
  InProcessConnector: 'in-process',
  SharedMemoryConnector: 'shared-memory',
  NatsConnector: 'nats',
};

/** Connectors of real deployments whose fabric there is not here. */
const elsewhere = ['MooncakeStoreConnector', 'MooncakeTransferEngineConnector', 'YuanrongConnector'];

const notNegative = z.number('must be a number').min(0, 'must not be negative');
const extraSchema = z.looseObject({
  latency_ms: notNegative.optional(),
  bandwidth_mb_per_s: z.number('must be a number').positive('must be above 0').optional(),
  ring_mb: z
    .number('must be a number')
    .positive('must be above 0')
    .max(65536, 'must be at most 65536')
    .optional(),
  always: z.boolean('must be true or false').optional(),
  url: z.string('must be a text').startsWith('nats://', 'must be as nats://host:port').optional(),
});

/** Names of the connectors of an edge, by either of its ends. */
function namedFor(from: number, to: number, stages: readonly PlainObject[]): string | null {
  const at = (stage: PlainObject | undefined, list: string, key: string): unknown => {
    const connectors = stage?.[list];
    return typeof connectors === 'object' && connectors !== null && key in connectors
      ? Object.entries(connectors).find(([name]) => name === key)?.[1]
      : undefined;
  };
  const name =
    at(stages[to], 'input_connectors', `from_stage_${from}`) ??
    at(stages[from], 'output_connectors', `to_stage_${to}`);
  return typeof name === 'string' ? name : null;
}

function readExtra(source: string, name: string, { extra }: ConnectorEntry): z.infer<typeof extraSchema> {
  const result = extraSchema.safeParse(extra ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new UsageError(`${source}: connector ${name}, extra.${place} ${issue?.message ?? 'is invalid'}.`);
}

function kindOf(source: string, name: string, { name: className }: ConnectorEntry): EdgeTransport['kind'] {
  const kind = kinds[className];
  if (kind !== undefined) return kind;
  if (elsewhere.includes(className)) return null;
  throw new UsageError(
    `${source}: connector ${name}: there is no ${className}. Connectors: ${Object.keys(kinds).join(', ')}; ` +
      `${elsewhere.join(', ')} are accepted and carried as if none was named.`,
  );
}

/**
 * What carries payloads over each edge of a pipeline.
 * @param stages what the sources together say of each stage, by stage id
 * @param source where the connectors stand, for messages
 * @throws UsageError for a connector that there is not, or a setting that does not fit
 */
export function edgeTransports(
  pipeline: PipelineDefinition,
  stages: readonly PlainObject[],
  connectors: Readonly<Record<string, ConnectorEntry>>,
  source: string,
): EdgeTransport[] {
  return pipeline.stages.flatMap(({ stageId: to, inputSources }) =>
    inputSources.map((from): EdgeTransport => {
      const name = namedFor(from, to, stages);
      const entry = name === null ? undefined : connectors[name];
      if (name !== null && entry === undefined)
        throw new UsageError(
          `${source}: stage ${from} to ${to}: there is no connector "${name}". ` +
            `Connectors: ${Object.keys(connectors).join(', ') || 'none'}.`,
        );
      const extra = name === null || entry === undefined ? {} : readExtra(source, name, entry);
      const { latency_ms = 0, bandwidth_mb_per_s, ring_mb, always = false, url = null } = extra;
      return {
        from,
        to,
        connectorName: name,
        kind: name === null || entry === undefined ? null : kindOf(source, name, entry),
        always,
        latencyMs: latency_ms,
        bytesPerMs: bandwidth_mb_per_s === undefined ? null : bandwidth_mb_per_s * 1000,
        ringBytes: ring_mb === undefined ? null : Math.round(ring_mb * 1024 * 1024),
        url,
      };
    }),
  );
}
