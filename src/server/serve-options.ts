import type { DeployRequest } from './model/deploy-pipeline.ts';

/** What `omnimeter serve` was asked to serve, and how. */
export type ServeOptions = {
  /** Path or id of the model; its last segment says which pipeline serves it. */
  readonly model: string;
  /** Name that requests must use; `null` = `model` as given. */
  readonly servedModelName: string | null;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Factor on all simulated durations: 0.1 is ten times faster. Reported times are those that really elapse. */
  readonly timeScale: number;
  /** Laws and limits by stage id, as JSON text or as an object; `null` = as calibrated. */
  readonly stageOverrides: string | Readonly<Record<string, unknown>> | null;
  /** File for one line per event that leaves the process; `null` = none. */
  readonly truthLog: string | null;
  /** Print one line of stage times per finished request. */
  readonly logStats: boolean;
  /**
   * Stages feed each other chunk by chunk; otherwise each starts when the one before it has finished. `null` = as
   * deployed.
   */
  readonly asyncChunk: boolean | null;
  /** Seed of everything random. */
  readonly seed: number;
  /** Deployment file (YAML), or the name of a bundled one; `null` = the one bundled for the model. */
  readonly deployConfig: string | null;
  /** Section of the deployment file's `platforms` to lay over its stages; `null` = none. */
  readonly platform: string | null;
  /** Explicit engine flags by name without dashes; those that mean something here act on every stage. */
  readonly engineFlags: Readonly<Record<string, unknown>>;
  /** Keys of which every request but /health and /metrics must name one; empty = none is needed. */
  readonly apiKeys: readonly string[];
  /** Folder from which requests may name files; `null` = none. */
  readonly allowedLocalMediaPath: string | null;
  /** Hosts from which media that requests name by URL are fetched; `null` = any. */
  readonly allowedMediaDomains: readonly string[] | null;
  /** Largest request body, MiB; `null` = 512, which is the most. */
  readonly maxBodyMb: number | null;
  /** What goes wrong on purpose, e.g. `reset:5@rate=0.1`. */
  readonly faults: readonly string[];
  /** File of what a full-duplex model says when; `null` = simulated. */
  readonly duplexScript: string | null;
  /** The stage that this process runs of a deployment that spans processes; `null` = all stages are here. */
  readonly stageId: number | null;
  /** Run the stage for a server elsewhere, without an API. */
  readonly headless: boolean;
  /** Where the broker is through which the processes of a deployment meet; `null` = there is none. */
  readonly masterAddress: string | null;
  readonly masterPort: number | null;
  /** Silence after which a stage worker counts as lost, s. */
  readonly heartbeatTimeoutS: number;
  /** Replicas of its stage that a headless process runs. */
  readonly replicasHere: number;
};

/** What of the options says how the model is deployed. */
export function deployRequestOf(options: ServeOptions): DeployRequest {
  return {
    model: options.model,
    deployConfig: options.deployConfig,
    platform: options.platform,
    globalFlags: options.engineFlags,
    asyncChunk: options.asyncChunk,
    stageOverrides: options.stageOverrides,
  };
}

/** The options of a server of which only the model is named. */
export const serveDefaults = {
  servedModelName: null,
  host: '127.0.0.1',
  port: 8000,
  timeScale: 1,
  stageOverrides: null,
  truthLog: null,
  logStats: false,
  asyncChunk: null,
  seed: 0,
  deployConfig: null,
  platform: null,
  engineFlags: {},
  apiKeys: [],
  allowedLocalMediaPath: null,
  allowedMediaDomains: null,
  maxBodyMb: null,
  faults: [],
  duplexScript: null,
  stageId: null,
  headless: false,
  masterAddress: null,
  masterPort: null,
  heartbeatTimeoutS: 30,
  replicasHere: 1,
} as const satisfies Omit<ServeOptions, 'model'>;
