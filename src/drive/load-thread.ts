import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { endpointNamed } from '../endpoints/registry.ts';
import { settleYoungHeap } from '../foundation/heap.ts';
import { createTransport } from '../transport/select-transport.ts';
import { warmUpClient } from '../transport/self-warmup.ts';
import { LoadWorker } from './load-worker.ts';
import type { FromLoadThread, LoadThreadConfig, PhaseRecord, RawRecord, ToLoadThread } from './messages.ts';
import { rehearse } from './rehearsal.ts';
import { ThreadWatch } from './thread-watch.ts';

type Send = (message: FromLoadThread, transfer?: readonly ArrayBuffer[]) => void;

/**
 * Sends records once the reads of a turn of the event loop are done: many streams may end at once, and writing a
 * record down, or waking the main thread, must not hold up the events of the others.
 */
function recordSender(send: Send): (phase: number, raw: RawRecord) => void {
  let waiting: PhaseRecord[] = [];
  const flush = (): void => {
    const records = waiting;
    waiting = [];
    send({ type: 'records', records }, records.flatMap(ownedBuffers));
  };
  return (phase, raw) => {
    if (waiting.push({ phase, ...raw }) === 1) setImmediate(flush);
  };
}

/** Memory that goes to the main thread with a record instead of being copied. */
function ownedBuffers({ record, duplexArtifacts }: PhaseRecord): ArrayBuffer[] {
  const events = record.events.timesMs.buffer as ArrayBuffer;
  if (!duplexArtifacts) return [events];
  const { wav, eventsJson } = duplexArtifacts;
  return [events, eventsJson.buffer, ...(wav === null ? [] : [wav.buffer])];
}

/** Two rounds: long streams on a few connections, and then the opening of many, as at the start of a run. */
async function warmUp(
  endpoint: Endpoint,
  { transport: name, transportOptions, maxLineBytes }: LoadThreadConfig,
): Promise<void> {
  const openings = { connections: 64, requestsPerConnection: 4, textEventsPerRequest: 2, limitMs: 500 };
  for (const newConnectionPerRequest of [false, true]) {
    // A transport of its own: the loopback must not go through a proxy, nor count in the run's figures.
    const transport = createTransport(name, { ...transportOptions, env: {}, newConnectionPerRequest });
    await warmUpClient(
      (url) => rehearse(endpoint, transport, url, maxLineBytes),
      newConnectionPerRequest ? openings : {},
    );
    transport.close();
  }
}

/** A load thread: owns sockets and nothing else. Its endpoint is looked up by name, since code does not cross threads. */
async function main(port: MessagePort): Promise<void> {
  const config = workerData as LoadThreadConfig;
  const endpoint = endpointNamed(config.endpoint);
  if (!endpoint) throw new Error(`no endpoint is named ${config.endpoint}`);
  const send: Send = (message, transfer = []) => port.postMessage(message, [...transfer]);
  const transport = createTransport(config.transport, config.transportOptions);
  const watch = new ThreadWatch();
  const worker = new LoadWorker({
    endpoint,
    transport,
    maxLineBytes: config.maxLineBytes,
    onRecord: recordSender(send),
  });
  const handle = (message: ToLoadThread): void => {
    switch (message.type) {
      case 'phase':
        worker.load(message);
        settleYoungHeap();
        send({ type: 'loaded' });
        break;
      case 'go':
        worker.go(message.startMs);
        break;
      case 'wake':
        worker.wake();
        break;
      case 'abort':
        worker.abort();
        break;
      case 'watch':
        if (message.report) {
          const { connectionsOpened, connectionsReused } = transport.stats();
          send({ type: 'health', health: { ...watch.finish(), connectionsOpened, connectionsReused } });
        } else watch.start();
        break;
      case 'close':
        transport.close();
        port.close();
        break;
    }
  };
  port.on('message', (message: ToLoadThread | { clockPort: MessagePort }) => {
    if ('clockPort' in message) message.clockPort.on('message', handle);
    else handle(message);
  });
  if (config.selfWarmup && !endpoint.overWebSocket) {
    await warmUp(endpoint, config);
  }
  await endpoint.warmUp?.();
  send({ type: 'ready' });
}

if (parentPort) await main(parentPort);
