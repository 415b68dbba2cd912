import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nowMs } from '../../foundation/clock.ts';
import { until } from '../api/wire.suite.ts';
import { inProcessConnector } from '../connector/in-process-connector.ts';
import { timerScheduler } from '../engine/scheduler.ts';
import type { StageListener } from '../engine/stage-engine.ts';
import { textLlm } from '../model/text-llm.ts';
import { createOrchestrator } from '../pipeline/create-runtime.ts';
import type { Orchestrator } from '../pipeline/orchestrator.ts';
import { type DeploymentFacts, protocolVersion } from './control-messages.ts';
import { memoryBroker } from './memory-broker.suite.ts';
import { StageWorker, type StageWorkerOptions } from './stage-worker.ts';
import { WorkerHub } from './worker-hub.ts';

const facts: DeploymentFacts = {
  protocol: protocolVersion,
  pipeline: textLlm.name,
  model: 'model',
  timeScale: 1,
  seed: 0,
  asyncChunk: true,
};
const deployment = textLlm.name;
const lost = 'Replica 0 of stage 0 (llm) was lost: messages from it did not arrive.';

let broker: ReturnType<typeof memoryBroker>;
let orchestrator: Orchestrator;
let lines: string[];
let closes: (() => void)[];
/** Of the requests that the worker has been given, in order. */
let listeners: StageListener[];

function startHead(): void {
  orchestrator = createOrchestrator({
    pipeline: textLlm,
    scheduler: timerScheduler(nowMs, () => {}),
    timeScale: 1,
    seed: 0,
    tokenize: (text) => [text],
    remoteStageIds: [0],
  });
  const hub = new WorkerHub({
    broker,
    deployment,
    headId: 'head',
    facts,
    stages: textLlm.stages,
    remoteStageIds: [0],
    transports: [],
    hostId: 'host',
    orchestrator,
    nowMs,
    // It beats every 50 ms.
    heartbeatTimeoutMs: 300,
    log: () => {},
  });
  closes.push(() => hub.close());
}

/** @returns rejects where the worker is refused */
function startWorker(options: Partial<StageWorkerOptions> = {}): Promise<void> {
  const worker = new StageWorker({
    broker,
    deployment,
    workerId: 'worker',
    facts,
    stageId: 0,
    stageName: 'llm',
    hostId: 'host',
    createEngine: () => ({
      kind: 'ar',
      submit(_request, listener) {
        listeners.push(listener);
        return { feed() {}, abort() {} };
      },
      stats: () => ({ running: 0, waiting: 0, waitingForChunk: 0 }),
      isAlive: () => true,
      close() {},
    }),
    createConnector: () => inProcessConnector(),
    inputEdges: [],
    startTimeoutMs: 60_000,
    serverCommand: 'serve model --stage-id 0',
    log: (line) => lines.push(line),
    ...options,
  });
  closes.push(() => worker.stop());
  return worker.run();
}

function joins(): number {
  return lines.filter((line) => line.includes('joined as replica 0')).length;
}

/** A request that the worker works on, and what its client gets. */
async function request(): Promise<{ listener: StageListener; replied: string[] }> {
  const replied: string[] = [];
  const before = listeners.length;
  orchestrator.submit(
    {
      id: `request-${before}`,
      acceptedMs: nowMs(),
      promptTokens: 5,
      finalStageIds: [0],
      params: [{ maxTokens: 9, minTokens: 0, ignoreEos: false, stop: [] }],
      initialChunkFrames: null,
      keepGaps: false,
    },
    {
      onOutput: (_stage, { text }, requestFinished) =>
        replied.push(`${text ?? ''}${requestFinished ? ', the last' : ''}`),
      onFailure: ({ message }) => replied.push(message),
    },
  );
  await until(() => listeners.length > before);
  const listener = listeners.at(-1);
  if (listener === undefined) throw new Error('The worker was given nothing');
  return { listener, replied };
}

/** Makes tokens, each of which leaves in a message of its own. */
async function makes(listener: StageListener, texts: readonly string[], end = texts.at(-1)): Promise<void> {
  for (const text of texts) {
    const output = { dueMs: nowMs(), units: 1, text, audio: null, artifact: null, kv: null, stepMs: 10 };
    const finishReason = text === end ? 'stop' : null;
    listener.onOutput({ ...output, finishReason, stopReason: null }, nowMs());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function outputsRelayed(relay: (message: Uint8Array, index: number) => readonly Uint8Array[]): void {
  let index = 0;
  broker.relay = (subject, message) => (subject.endsWith('.outputs') ? relay(message, index++) : [message]);
}

describe('messages between head and worker', () => {
  beforeEach(() => {
    broker = memoryBroker();
    lines = [];
    closes = [];
    listeners = [];
  });
  afterEach(() => {
    for (const close of closes) close();
  });

  describe('on their way to the head', () => {
    beforeEach(async () => {
      startHead();
      void startWorker();
      await until(() => joins() === 1);
    });

    test('that come twice count once', async () => {
      outputsRelayed((message) => [message, message]);
      const { listener, replied } = await request();
      await makes(listener, ['a', 'b', 'c']);
      await until(() => replied.length >= 3);
      expect(replied).toEqual(['a', 'b', 'c, the last']);
    });

    test.each([
      ['are lost', (message: Uint8Array, index: number) => (index === 1 ? [] : [message])],
      [
        'come in another order',
        (() => {
          const held: Uint8Array[] = [];
          return (message: Uint8Array, index: number) => {
            if (index === 1) held.push(message);
            return index === 1 ? [] : index === 2 ? [message, ...held] : [message];
          };
        })(),
      ],
    ])('that %s fail their request, which is never shorter; the worker joins again', async (_what, relay) => {
      outputsRelayed(relay);
      const { listener, replied } = await request();
      await makes(listener, ['a', 'b', 'c']);
      await until(() => replied.length >= 2);
      expect(replied).toEqual(['a', lost]);
      await until(() => joins() === 2);
      const next = await request();
      await makes(next.listener, ['d', 'e']);
      await until(() => next.replied.length >= 2);
      expect(next.replied).toEqual(['d', 'e, the last']);
    });

    test('that are lost with nothing after them are missed at the next heartbeat', async () => {
      outputsRelayed((message, index) => (index === 2 ? [] : [message]));
      const { listener, replied } = await request();
      await makes(listener, ['a', 'b', 'c']);
      await until(() => replied.length >= 3);
      expect(replied).toEqual(['a', 'b', lost]);
    });

    test('that are late by a whole session are nobody’s', async () => {
      const kept: Uint8Array[] = [];
      outputsRelayed((message) => {
        kept.push(message);
        return [];
      });
      const first = await request();
      await makes(first.listener, ['a', 'b']);
      await until(() => joins() === 2);
      expect(first.replied).toEqual([lost]);
      broker.relay = (_subject, message) => [message];
      const second = await request();
      for (const message of kept) broker.publish(`omnimeter.${deployment}.worker.outputs`, message);
      await makes(second.listener, ['c', 'd']);
      await until(() => second.replied.length >= 2);
      expect(second.replied).toEqual(['c', 'd, the last']);
    });
  });

  test('that the worker misses fail what they were for', async () => {
    startHead();
    void startWorker();
    await until(() => joins() === 1);
    const { replied } = await request();
    broker.relay = (subject, message) => (subject.endsWith('.tasks') ? [] : [message]);
    const other: string[] = [];
    orchestrator.submit(
      {
        id: 'unheard',
        acceptedMs: nowMs(),
        promptTokens: 5,
        finalStageIds: [0],
        params: [{ maxTokens: 9, minTokens: 0, ignoreEos: false, stop: [] }],
        initialChunkFrames: null,
        keepGaps: false,
      },
      { onOutput: () => other.push('output'), onFailure: ({ message }) => other.push(message) },
    );
    await until(() => other.length > 0);
    const why = 'Replica 0 of stage 0 (llm) was lost: messages to it did not arrive.';
    expect([replied, other]).toEqual([[why], [why]]);
  });
});

describe('a worker that looks for its head', () => {
  beforeEach(() => {
    broker = memoryBroker();
    lines = [];
    closes = [];
    listeners = [];
  });
  afterEach(() => {
    for (const close of closes) close();
  });

  test('says once that it waits, and what to do', async () => {
    void startWorker();
    await until(() => lines.length > 0);
    // More than one attempt.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(lines).toEqual([
      'stage 0 (llm): waits up to 60 s. No server of text_llm answers at nats://memory:4222. Start it: serve model --stage-id 0',
    ]);
    startHead();
    await until(() => joins() === 1);
  });

  test('gives up in the end', async () => {
    await expect(startWorker({ startTimeoutMs: -1 })).rejects.toThrow(
      /^No server of text_llm answers at nats:\/\/memory:4222\. Start it: serve model --stage-id 0$/,
    );
  });

  test.each([
    [
      'of another pipeline',
      { deployment: 'other', facts: { ...facts, pipeline: 'other', model: 'theirs' } },
      'The server at nats://memory:4222 runs text_llm (model), not other (theirs). Start the worker with the flags of ' +
        'the server, and --stage-id and --headless; or start the server that it belongs to first: serve model --stage-id 0',
    ],
    [
      'of another model',
      { facts: { ...facts, model: 'theirs' } },
      'The server refuses the worker: It is deployed otherwise than the server: model is model there. Start it with ' +
        'the flags of the server, and --stage-id and --headless.',
    ],
    [
      'of a stage that there is not',
      { stageId: 7 },
      'The server refuses the worker: Stage 7 takes no workers; those that do: 0.',
    ],
    [
      'of another version',
      { facts: { ...facts, protocol: 1 } },
      `The server refuses the worker: It speaks version 1 of the protocol between stages, the server version ${protocolVersion}. ` +
        'Run the same omnimeter in all processes of a deployment.',
    ],
  ])('%s is refused at once', async (_what, options, message) => {
    startHead();
    await expect(startWorker(options)).rejects.toThrow(message);
    expect(lines).toEqual([]);
  });
});
