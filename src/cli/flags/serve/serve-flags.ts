import { serveDefaults } from '../../../server/serve-options.ts';
import type { FlagTable } from '../flag.ts';
import { engineFlags } from './engine-flags.ts';

/** A number that holds for every stage. */
function stageFlag(doc: string) {
  return {
    group: 'Deployment',
    kind: 'int',
    default: null,
    min: 1,
    defaultDoc: 'as deployed',
    doc,
  } as const;
}

/** The flags of `omnimeter serve` that it acts on. */
export const serveFlags = {
  config: {
    group: 'Server',
    kind: 'path',
    default: null,
    placeholder: 'FILE',
    doc: 'YAML file of flags by name. The environment and the command line win over it.',
  },
  model: {
    group: 'Server',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'PATH_OR_ID',
    doc: 'Model to serve; may also be the first argument. Its last path segment says which pipeline serves it; no weights are read.',
  },
  omni: {
    group: 'Server',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Accepted for compatibility: every model is served with all its stages.',
  },
  host: {
    group: 'Server',
    kind: 'string',
    default: serveDefaults.host,
    common: true,
    doc: 'Address to listen on.',
  },
  port: {
    group: 'Server',
    kind: 'int',
    default: serveDefaults.port,
    min: 0,
    max: 65535,
    common: true,
    doc: 'Port to listen on; 0 takes a free one.',
  },
  'served-model-name': {
    group: 'Server',
    kind: 'string',
    default: serveDefaults.servedModelName,
    defaultDoc: 'the model as given',
    common: true,
    doc: 'Name that requests use. An equal last path segment is accepted too.',
  },
  'api-key': {
    group: 'Server',
    kind: 'list',
    default: null,
    placeholder: 'KEY',
    doc: 'Keys of which every request but /health and /metrics must name one, as "Authorization: Bearer KEY". They are never logged.',
  },
  'allowed-local-media-path': {
    group: 'Server',
    kind: 'path',
    default: serveDefaults.allowedLocalMediaPath,
    placeholder: 'FOLDER',
    defaultDoc: 'no file is read',
    doc: 'Folder from which requests may name images, sounds and videos as file: URLs. Symbolic links that lead out of it are refused.',
  },
  'max-body-mb': {
    group: 'Server',
    kind: 'positive-float',
    default: serveDefaults.maxBodyMb,
    defaultDoc: '512, the most',
    doc: 'Largest request body, MiB; a larger one is refused with 413.',
  },
  'time-scale': {
    group: 'Simulation',
    kind: 'positive-float',
    default: serveDefaults.timeScale,
    common: true,
    doc: 'Factor on all simulated durations: 0.1 is ten times faster. Reported times are those that really elapse.',
  },
  'stage-overrides': {
    group: 'Deployment',
    kind: 'json',
    default: serveDefaults.stageOverrides,
    common: true,
    doc: 'Laws and limits by stage id, e.g. {"0": {"step": {"nativeMs": 10}}}; docs/deployments.md lists them.',
  },
  'deploy-config': {
    group: 'Deployment',
    kind: 'path',
    default: serveDefaults.deployConfig,
    placeholder: 'FILE',
    defaultDoc: 'the one bundled for the model',
    doc: 'Deployment file (YAML), or the name of a bundled one: limits, replicas and laws of every stage. docs/deployments.md lists its keys.',
  },
  device: {
    group: 'Deployment',
    kind: 'string',
    default: serveDefaults.platform,
    placeholder: 'PLATFORM',
    doc: 'Platform whose section of the deployment file applies: cuda, npu, rocm, xpu.',
  },
  'max-num-seqs': stageFlag('Requests that a replica of a stage serves at once.'),
  'max-num-batched-tokens': stageFlag('Prompt tokens that a replica of a stage reads in one step.'),
  'max-model-len': stageFlag('Most tokens of a prompt and its reply together.'),
  'limit-mm-per-prompt': {
    group: 'Deployment',
    kind: 'json',
    default: null,
    defaultDoc: 'as deployed',
    doc: 'Most media parts of each kind in one prompt, e.g. {"image": 64}.',
  },
  'async-chunk': {
    group: 'Deployment',
    kind: 'boolean',
    default: serveDefaults.asyncChunk,
    defaultDoc: 'as deployed',
    doc: 'Stages feed each other chunk by chunk. With --no-async-chunk each starts when the one before it has finished.',
  },
  'stage-id': {
    group: 'Stage workers',
    kind: 'int',
    default: serveDefaults.stageId,
    min: 0,
    defaultDoc: 'all stages in this process',
    doc: 'Run one stage here and the others in processes of their own, which meet at a broker: 0 with the API, the others with --headless. docs/stage-workers.md tells how.',
  },
  headless: {
    group: 'Stage workers',
    kind: 'boolean',
    default: serveDefaults.headless,
    doc: 'Run the stage of --stage-id for a server elsewhere, without an API.',
  },
  'omni-master-address': {
    group: 'Stage workers',
    kind: 'string',
    default: serveDefaults.masterAddress,
    placeholder: 'HOST',
    doc: 'Host of the NATS broker through which the processes of a deployment meet.',
  },
  'omni-master-port': {
    group: 'Stage workers',
    kind: 'int',
    default: serveDefaults.masterPort,
    min: 1,
    max: 65535,
    placeholder: 'PORT',
    doc: 'Port of that broker.',
  },
  'omni-heartbeat-timeout': {
    group: 'Stage workers',
    kind: 'positive-float',
    default: serveDefaults.heartbeatTimeoutS,
    placeholder: 'SECONDS',
    doc: 'Silence after which the server counts a stage worker as lost, s. One whose process has ended is found at once.',
  },
  'omni-dp-size-local': {
    group: 'Stage workers',
    kind: 'int',
    default: serveDefaults.replicasHere,
    min: 1,
    doc: 'Replicas of its stage that a headless process runs.',
  },
  seed: {
    group: 'Simulation',
    kind: 'int',
    default: serveDefaults.seed,
    doc: 'Seed of everything random.',
  },
  fault: {
    group: 'Simulation',
    kind: 'list',
    default: null,
    placeholder: 'FAULT',
    doc: 'What goes wrong on purpose, e.g. reset:5@rate=0.1 429@request=3 stall@model=-stall; docs/server-api.md lists the faults.',
  },
  'duplex-script': {
    group: 'Simulation',
    kind: 'path',
    default: serveDefaults.duplexScript,
    placeholder: 'FILE',
    defaultDoc: 'simulated',
    doc: 'What a full-duplex model says when, and what goes wrong with its sessions (YAML or JSON); docs/duplex-server.md lists the keys.',
  },
  'truth-log': {
    group: 'Observation',
    kind: 'path',
    default: serveDefaults.truthLog,
    placeholder: 'FILE',
    doc: 'Write one line per event, with the time at which it really left.',
  },
  'log-stats': {
    group: 'Observation',
    kind: 'boolean',
    default: serveDefaults.logStats,
    doc: 'Print one line of stage times per finished request, and observe the metrics of /metrics.',
  },
} as const satisfies FlagTable;

/** Everything that `serve` knows by name. */
export const allServeFlags: typeof serveFlags & FlagTable = { ...serveFlags, ...engineFlags };
