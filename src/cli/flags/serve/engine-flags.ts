import type { Flag, FlagTable } from '../flag.ts';

const switches = [
  ...[
    'trust-remote-code',
    'enforce-eager',
    'enable-prefix-caching',
    'enable-chunked-prefill',
    'async-scheduling',
  ],
  ...['enable-lora', 'enable-auto-tool-choice', 'enable-expert-parallel', 'enable-sleep-mode'],
  ...['disable-log-requests', 'enable-log-requests', 'disable-log-stats', 'disable-uvicorn-access-log'],
  ...[
    'disable-custom-all-reduce',
    'enable-server-load-tracking',
    'interleave-mm-strings',
    'enable-prompt-embeds',
  ],
  ...['enable-cpu-offload', 'enable-layerwise-offload', 'vae-use-slicing', 'vae-use-tiling'],
  ...['skip-mm-profiling', 'return-tokens-as-token-ids', 'disable-cascade-attn', 'enable-mm-embeds'],
  ...['enable-force-include-usage', 'enable-prompt-tokens-details', 'skip-tokenizer-init'],
];

const values = [
  ...['tensor-parallel-size', 'pipeline-parallel-size', 'data-parallel-size', 'gpu-memory-utilization'],
  ...['dtype', 'quantization', 'swap-space'],
  ...['kv-cache-dtype', 'kv-cache-memory-bytes', 'block-size', 'cpu-offload-gb', 'num-gpu-blocks-override'],
  ...['tokenizer', 'tokenizer-mode', 'revision', 'code-revision', 'tokenizer-revision', 'download-dir'],
  ...[
    'load-format',
    'config-format',
    'hf-overrides',
    'hf-token',
    'hf-config-path',
    'task',
    'runner',
    'convert',
  ],
  ...['model-impl', 'distributed-executor-backend', 'max-parallel-loading-workers'],
  ...[
    'compilation-config',
    'speculative-config',
    'kv-transfer-config',
    'additional-config',
    'generation-config',
  ],
  ...['override-generation-config', 'max-logprobs', 'logits-processors', 'mm-processor-kwargs'],
  ...['mm-processor-cache-gb', 'mm-encoder-tp-mode', 'media-io-kwargs'],
  ...['max-loras', 'max-lora-rank', 'lora-dtype', 'max-cpu-loras', 'tool-call-parser', 'reasoning-parser'],
  ...['chat-template', 'chat-template-content-format', 'response-role', 'uvicorn-log-level'],
  ...['ssl-keyfile', 'ssl-certfile', 'root-path', 'api-server-count', 'scheduling-policy'],
  ...['structured-outputs-config', 'guided-decoding-backend', 'attention-backend', 'data-parallel-address'],
  ...['data-parallel-rpc-port', 'data-parallel-size-local', 'stage-configs-path', 'init-timeout'],
  ...['stage-init-timeout', 'batch-timeout', 'worker-backend', 'ray-address', 'shm-threshold-bytes'],
  ...[
    'omni-replica-address',
    'cache-backend',
    'cache-config',
    'usp',
    'ring',
    'ulysses-degree',
    'ring-degree',
  ],
  ...[
    'cfg-parallel-size',
    'flow-shift',
    'boundary-ratio',
    'num-gpus',
    'output-modalities',
    'custom-voice-dir',
  ],
  ...['log-file', 'log-level'],
];

const lists = ['lora-modules', 'allowed-origins', 'allowed-methods', 'allowed-headers', 'middleware'];

const aliases: Readonly<Record<string, readonly string[]>> = {
  'tensor-parallel-size': ['-tp'],
  'pipeline-parallel-size': ['-pp'],
  'data-parallel-size': ['-dp'],
  quantization: ['-q'],
  'compilation-config': ['-O'],
};

function engineFlag(name: string, kind: 'boolean' | 'string' | 'list'): [string, Flag] {
  const flag: Flag = {
    group: 'Engine',
    kind,
    default: null,
    belongsTo: 'an engine with a model in it',
    doc: 'Flag of `vllm serve`, accepted without effect.',
    ...(aliases[name] === undefined ? {} : { aliases: aliases[name] }),
  };
  return [name, flag];
}

/**
 * Engine flags of `vllm serve`: accepted, so that a command line of a real deployment starts the embedded server
 * too, and said to have no effect.
 */
export const engineFlags: FlagTable = Object.fromEntries([
  ...switches.map((name) => engineFlag(name, 'boolean')),
  ...values.map((name) => engineFlag(name, 'string')),
  ...lists.map((name) => engineFlag(name, 'list')),
]);
