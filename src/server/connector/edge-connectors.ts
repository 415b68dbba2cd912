import type { Connector, ConnectorHealth } from '../pipeline/connector.ts';
import type { Edge } from '../pipeline/transfer-metadata.ts';

/**
 * One connector out of one for each edge.
 * @param byEdge edges by identity; a connector may carry several
 */
export function edgeConnectors(byEdge: ReadonlyMap<Edge, Connector>): Connector {
  const all = [...new Set(byEdge.values())];
  const of = (edge: Edge): Connector => {
    const connector = byEdge.get(edge);
    if (connector === undefined) throw new Error(`No connector carries stage ${edge.from} to ${edge.to}.`);
    return connector;
  };
  return {
    name: [...new Set(all.map(({ name }) => name))].join(', '),
    put: (edge, ...payload) => of(edge).put(edge, ...payload),
    get: (edge, ...request) => of(edge).get(edge, ...request),
    cleanup(requestId) {
      for (const connector of all) connector.cleanup(requestId);
    },
    inFlight: () => all.reduce((sum, connector) => sum + connector.inFlight(), 0),
    health: () =>
      all
        .map((connector) => connector.health())
        .reduce<ConnectorHealth>(
          (sum, { status, payloads, heldBytes }) => ({
            status: sum.status === 'down' ? 'down' : status,
            payloads: sum.payloads + payloads,
            heldBytes: sum.heldBytes + heldBytes,
          }),
          { status: 'up', payloads: 0, heldBytes: 0 },
        ),
    close() {
      for (const connector of all) connector.close();
    },
  };
}
