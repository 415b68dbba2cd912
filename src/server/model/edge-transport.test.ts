import { describe, expect, test } from 'vitest';
import { settledTransports } from '../serve-cluster.ts';
import { edgeTransports } from './edge-transport.ts';
import { qwen3Omni } from './qwen3-omni.ts';

const shared = { name: 'SharedMemoryConnector', extra: { codec_chunk_frames: 25 } };

describe('what carries payloads over an edge', () => {
  test('is the connector that either of its ends names', () => {
    const connectors = {
      a: shared,
      b: {
        name: 'NatsConnector',
        extra: { latency_ms: 2, bandwidth_mb_per_s: 100, always: true, url: 'nats://b:4222' },
      },
    };
    const stages = [
      { output_connectors: { to_stage_1: 'a' } },
      {},
      { input_connectors: { from_stage_1: 'b', from_stage_0: 'a' } },
    ];
    expect(edgeTransports(qwen3Omni, stages, connectors, 'file')).toEqual([
      {
        ...{ from: 0, to: 1, connectorName: 'a', kind: 'shared-memory', always: false },
        ...{ latencyMs: 0, bytesPerMs: null, ringBytes: null, url: null },
      },
      {
        ...{ from: 1, to: 2, connectorName: 'b', kind: 'nats', always: true },
        // 100 MB a second.
        ...{ latencyMs: 2, bytesPerMs: 100_000, ringBytes: null, url: 'nats://b:4222' },
      },
    ]);
  });

  test('is left open where none is named, and where its fabric is elsewhere', () => {
    const connectors = { m: { name: 'MooncakeStoreConnector', extra: { host: 'x' } } };
    const stages = [{}, { input_connectors: { from_stage_0: 'm' } }, {}];
    const kinds = edgeTransports(qwen3Omni, stages, connectors, 'file').map(({ kind }) => kind);
    expect(kinds).toEqual([null, null]);
  });

  test.each([
    ['a connector that is not there', { 1: 'x' }, {}, /stage 0 to 1: there is no connector "x"/],
    ['a class that there is not', { 1: 'a' }, { a: { name: 'RdmaConnector' } }, /there is no RdmaConnector/],
    [
      'a negative latency',
      { 1: 'a' },
      { a: { ...shared, extra: { latency_ms: -1 } } },
      /latency_ms must not/,
    ],
    ['no bandwidth', { 1: 'a' }, { a: { ...shared, extra: { bandwidth_mb_per_s: 0 } } }, /above 0/],
    ['an address of another kind', { 1: 'a' }, { a: { ...shared, extra: { url: 'http://x' } } }, /nats:/],
  ])('%s is refused', (_what, inputs, connectors, message) => {
    const stages = [{}, { input_connectors: { from_stage_0: inputs[1] } }, {}];
    expect(() => edgeTransports(qwen3Omni, stages, connectors, 'deploy.yaml')).toThrow(message);
  });

  const role = { stageId: 0, headless: false, brokerUrl: 'nats://a:1' };
  const [open] = edgeTransports(qwen3Omni, [], {}, 'file');
  if (open === undefined) throw new Error('an edge was expected');
  test.each([
    ['in one process, by reference', { kind: 'shared-memory' as const }, null, 'in-process'],
    ['in one process, always', { kind: 'shared-memory' as const, always: true }, null, 'shared-memory'],
    ['in one process, always, none named', { always: true }, null, 'shared-memory'],
    ['on one host, none named', {}, { ...role, isOneHost: true }, 'shared-memory'],
    ['between hosts, none named', {}, { ...role, isOneHost: false }, 'nats'],
    ['on one host, as named', { kind: 'nats' as const }, { ...role, isOneHost: true }, 'nats'],
  ])('%s', (_what, over, given, kind) => {
    expect(settledTransports([{ ...open, ...over }], given)[0]?.kind).toBe(kind);
  });

  test('by reference into another process is refused', () => {
    expect(() => settledTransports([{ ...open, kind: 'in-process' }], { ...role, isOneHost: true })).toThrow(
      /does not reach a stage in another process/,
    );
  });
});
