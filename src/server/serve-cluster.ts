import { UsageError } from '../foundation/errors.ts';
import { type Broker, connectBroker, NoAnswerError } from './cluster/broker.ts';
import { type DeploymentFacts, protocolVersion, subjects } from './cluster/control-messages.ts';
import { hostId } from './cluster/host-id.ts';
import { newProcessId } from './cluster/process-id.ts';
import { WorkerHub, type WorkerHubOptions } from './cluster/worker-hub.ts';
import { delayedConnector } from './connector/delayed-connector.ts';
import { edgeConnectors } from './connector/edge-connectors.ts';
import { inProcessConnector } from './connector/in-process-connector.ts';
import { natsConnector } from './connector/nats-connector.ts';
import { defaultRingBytes, sharedMemoryConnector } from './connector/shared-memory-connector.ts';
import type { Scheduler } from './engine/scheduler.ts';
import type { EdgeTransport } from './model/edge-transport.ts';
import { lastSegment } from './model/pipeline-registry.ts';
import type { Connector } from './pipeline/connector.ts';
import type { PipelineDefinition } from './pipeline/pipeline-definition.ts';
import type { Edge } from './pipeline/transfer-metadata.ts';
import type { ServeOptions } from './serve-options.ts';

/** Where this process stands in a deployment that spans processes. */
export type ClusterRole = {
  readonly stageId: number;
  readonly headless: boolean;
  /** As `nats://host:port`. */
  readonly brokerUrl: string;
  readonly isOneHost: boolean;
};

const loopback = ['127.0.0.1', 'localhost', '::1'];

/**
 * What `--stage-id` and its companions say.
 * @returns `null` = all stages are in this process
 * @throws UsageError where one of them is missing, or does not fit
 */
export function clusterRole(options: ServeOptions, pipeline: PipelineDefinition): ClusterRole | null {
  const { stageId, headless, masterAddress, masterPort } = options;
  if (stageId === null) {
    if (headless) throw new UsageError('--headless needs --stage-id: the stage that this process runs.');
    if (masterAddress !== null || masterPort !== null)
      throw new UsageError(
        '--omni-master-address needs --stage-id: 0 for the process with the API, or another with --headless.',
      );
    return null;
  }
  if (masterAddress === null || masterPort === null)
    throw new UsageError(
      '--stage-id needs --omni-master-address and --omni-master-port: the address of the NATS broker through which ' +
        'the processes of the deployment meet.',
    );
  if (!pipeline.stages.some((stage) => stage.stageId === stageId)) {
    const known = pipeline.stages.map((stage) => `${stage.stageId} (${stage.name})`).join(', ');
    throw new UsageError(`--stage-id ${stageId}: ${pipeline.name} has no such stage. Its stages: ${known}.`);
  }
  if (!headless && stageId !== 0)
    throw new UsageError(`--stage-id ${stageId} needs --headless: only stage 0 has the API.`);
  if (pipeline.duplex !== null)
    throw new UsageError(
      `--stage-id: ${pipeline.name} is deployed in full duplex. Its conversations are simulated as a whole, in the ` +
        'process with the API, so that stage workers would have no part in them. Leave out --stage-id, or answer in ' +
        'turns: session_mode: turn in --deploy-config (bundled: minicpmo_4_5_turn.yaml, qwen3_omni.yaml).',
    );
  const host = masterAddress.includes(':') ? `[${masterAddress}]` : masterAddress;
  return {
    stageId,
    headless,
    brokerUrl: `nats://${host}:${masterPort}`,
    isOneHost: loopback.includes(masterAddress),
  };
}

/**
 * What to do where a stage has no live replica, for who asks for one.
 * @returns `null` where all stages are in this process, and so none can be started
 */
export function replicaAdvice(
  { model, masterAddress, masterPort }: ServeOptions,
  { broker }: Pick<Cluster, 'broker'>,
): ((stageId: number) => string) | null {
  if (broker === null || masterAddress === null || masterPort === null) return null;
  const flags = `--omni-master-address ${masterAddress} --omni-master-port ${masterPort}`;
  return (stageId) =>
    broker.isUp()
      ? `Workers join at the broker ${broker.address}. Start one with the flags of this server: omnimeter serve ` +
        `${model} --omni --stage-id ${stageId} --headless ${flags}`
      : `The broker ${broker.address}, at which workers join, cannot be reached: start it again, e.g. nats-server -a ` +
        `${masterAddress} -p ${masterPort}`;
}

/** Starts the server of a worker with these options. */
export function serverCommand({ model, masterAddress, masterPort }: ServeOptions): string {
  const broker = `--omni-master-address ${masterAddress ?? ''} --omni-master-port ${masterPort ?? ''}`;
  return `omnimeter serve ${model} --omni --stage-id 0 ${broker}`;
}

/** What must agree between the processes of a deployment. */
export function deploymentFacts(
  pipeline: PipelineDefinition,
  { model, timeScale, seed }: Pick<ServeOptions, 'model' | 'timeScale' | 'seed'>,
): DeploymentFacts {
  return {
    protocol: protocolVersion,
    pipeline: pipeline.name,
    model: lastSegment(model),
    timeScale,
    seed,
    asyncChunk: pipeline.asyncChunk,
  };
}

/** What a server has of a deployment that spans processes. */
export type Cluster = {
  /** `null` = all stages are in this process, and no connector needs one. */
  readonly broker: Broker | null;
  readonly headId: string;
  readonly payloadSubject: string;
  /** None left open. */
  readonly transports: readonly EdgeTransport[];
  readonly remoteStageIds: readonly number[];
};

/**
 * Connects a server to the broker of its deployment, where it needs one.
 * @throws UsageError where there is no broker, or another server has taken the deployment
 */
export async function openCluster(
  role: ClusterRole | null,
  pipeline: PipelineDefinition,
  transports: readonly EdgeTransport[],
): Promise<Cluster> {
  const headId = newProcessId();
  const settled = settledTransports(transports, role);
  const url = role?.brokerUrl ?? settled.find(({ kind }) => kind === 'nats')?.url ?? null;
  const broker = url === null ? null : await connectBroker(url, `omnimeter server of ${pipeline.name}`);
  const remoteStageIds =
    role === null
      ? []
      : pipeline.stages.flatMap(({ stageId }) => (stageId === role.stageId ? [] : [stageId]));
  const payloadSubject = subjects.payload(pipeline.name, headId);
  if (broker !== null && role !== null && (await isTaken(broker, pipeline.name))) {
    await broker.close();
    throw new UsageError(
      `Another server takes the workers of ${pipeline.name} at ${broker.address}: stop it, or use another broker.`,
    );
  }
  return { broker, headId, payloadSubject, transports: settled, remoteStageIds };
}

/** What takes in stage workers; `null` where all stages are in this process. */
export function workerHub(
  options: ServeOptions,
  pipeline: PipelineDefinition,
  role: ClusterRole | null,
  cluster: Cluster,
  server: Pick<WorkerHubOptions, 'orchestrator' | 'nowMs' | 'log'>,
): WorkerHub | null {
  const { broker, headId, transports } = cluster;
  if (broker === null || role === null) return null;
  return new WorkerHub({
    ...server,
    broker,
    headId,
    transports,
    deployment: pipeline.name,
    facts: deploymentFacts(pipeline, options),
    stages: pipeline.stages,
    // Its own stage takes more replicas too.
    remoteStageIds: pipeline.stages.map(({ stageId }) => stageId),
    hostId: hostId(),
    heartbeatTimeoutMs: options.heartbeatTimeoutS * 1000,
  });
}

async function isTaken(broker: Broker, deployment: string): Promise<boolean> {
  try {
    await broker.request(subjects.register(deployment), new Uint8Array(0), 2000);
    return true;
  } catch (error) {
    if (error instanceof NoAnswerError) return error.reason === 'silent';
    throw error;
  }
}

export type ConnectOptions = {
  readonly transports: readonly EdgeTransport[];
  readonly scheduler: Scheduler;
  readonly timeScale: number;
  /** `null` = all stages are in this process. */
  readonly role: ClusterRole | null;
  /** `null` = there is none. */
  readonly broker: Broker | null;
  /** Where this process answers for payloads that others fetch. */
  readonly payloadSubject: string;
  /** The clock of the process that puts; default: this process's. */
  readonly producerNowMs?: () => number;
};

/** The transports with none left open. @throws UsageError for one that cannot reach its stage */
export function settledTransports(
  transports: readonly EdgeTransport[],
  role: ClusterRole | null,
): EdgeTransport[] {
  return transports.map((transport) => {
    const { from, to, kind, always } = transport;
    const isRemote = role !== null;
    if (!isRemote && !always) return { ...transport, kind: 'in-process' };
    if (isRemote && kind === 'in-process')
      throw new UsageError(
        `Stage ${from} to ${to}: an InProcessConnector does not reach a stage in another process; ` +
          'name a SharedMemoryConnector or a NatsConnector.',
      );
    if (kind !== null) return transport;
    return { ...transport, kind: role === null || role.isOneHost ? 'shared-memory' : 'nats' };
  });
}

/** What is named for an edge and does nothing there, for the user to be told. */
export function idleConnectors(transports: readonly EdgeTransport[], role: ClusterRole | null): string[] {
  if (role !== null) return [];
  const idle = transports.filter(({ kind, always }) => kind === 'nats' && !always);
  const names = [...new Set(idle.map(({ connectorName }) => connectorName))];
  return names.map((name) => {
    const edges = idle.filter(({ connectorName }) => connectorName === name);
    const places = edges.map(({ from, to }) => `${from} to ${to}`).join(', ');
    return (
      `Connector ${name} (NatsConnector), stage ${places}, has no effect: all stages are in this process and hand over ` +
      'by reference. "always: true" in its extra sends payloads through the broker all the same.'
    );
  });
}

function plainConnector(transport: EdgeTransport, options: ConnectOptions): Connector {
  const { broker, payloadSubject, producerNowMs } = options;
  const clock = producerNowMs === undefined ? {} : { producerNowMs };
  switch (transport.kind) {
    case 'shared-memory':
      return sharedMemoryConnector({ ringBytes: transport.ringBytes ?? defaultRingBytes, ...clock });
    case 'nats':
      if (broker === null)
        throw new UsageError(
          `Stage ${transport.from} to ${transport.to}: connector ${transport.connectorName} (NatsConnector) has no ` +
            'broker. Name it in its extra, as url: nats://host:port, or by --omni-master-address, ' +
            '--omni-master-port and --stage-id 0.',
        );
      return natsConnector({ broker, subject: payloadSubject, ...clock });
    default:
      return inProcessConnector();
  }
}

/** What makes the connectors of a runtime, out of settled transports. */
export function connectorsFor(options: ConnectOptions): (edges: readonly Edge[]) => Connector {
  const { transports, scheduler, timeScale } = options;
  return (edges) => {
    const shared = new Map<string, Connector>();
    const byEdge = new Map<Edge, Connector>();
    for (const edge of edges) {
      const transport = transports.find(({ from, to }) => from === edge.from && to === edge.to);
      if (transport === undefined) continue;
      // Edges that name the same connector share it.
      const name = `${transport.kind ?? ''} ${transport.connectorName ?? ''}`;
      const plain = shared.get(name) ?? plainConnector(transport, options);
      shared.set(name, plain);
      const { latencyMs, bytesPerMs } = transport;
      const delay = {
        latencyMs: latencyMs * timeScale,
        bytesPerMs: bytesPerMs === null ? null : bytesPerMs / timeScale,
      };
      const isSlowed = latencyMs > 0 || bytesPerMs !== null;
      byEdge.set(edge, isSlowed ? delayedConnector(plain, delay, scheduler) : plain);
    }
    const [only] = new Set(byEdge.values());
    return only !== undefined && new Set(byEdge.values()).size === 1 ? only : edgeConnectors(byEdge);
  };
}
