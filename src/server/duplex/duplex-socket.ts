import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { callersId } from '../api/accepted-request.ts';
import type { ApiContext } from '../api/api-context.ts';
import { checkModel } from '../api/request-body.ts';
import { RequestError } from '../api/request-error.ts';
import { FaultGate } from '../faults/fault-gate.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import type { TruthEntry, TruthEvent } from '../truth-log.ts';
import { DuplexConnection } from './duplex-connection.ts';
import { DuplexError, handshakeErrorEvent } from './duplex-error.ts';
import { type EventWire, type StampedEvent, stampless } from './duplex-event.ts';
import type { DuplexServer } from './duplex-server.ts';
import type { SessionFaults } from './session-core.ts';

/** A client that reads nothing while this much waits for it is given up, bytes. */
const mostPendingBytes = 64 * 1024 * 1024;
/** Between the last event and a reset, which takes back what the client has not read yet. */
const resetDelayMs = 20;

/** A socket as sessions see it: its lines in the truth log, and what goes wrong with its events on purpose. */
class SocketWire implements EventWire {
  readonly #socket: WebSocket;
  readonly #truth: TruthEntry;
  readonly #gate: FaultGate | null;

  constructor(
    socket: WebSocket,
    given: {
      readonly truth: TruthEntry;
      readonly fault: RequestFault | null;
      readonly newId: () => string;
      reset(): void;
    },
  ) {
    this.#socket = socket;
    this.#truth = given.truth;
    const { fault } = given;
    this.#gate =
      fault === null
        ? null
        : new FaultGate(fault, { reset: given.reset, fail: () => this.#fail(given.newId()) });
  }

  send(event: StampedEvent): void {
    if (this.#gate === null) this.#write(event, event.text);
    else this.#gate.text(event.text, event.type.endsWith('.delta'), (text) => this.#write(event, text));
  }

  close(code: number, reason: string): void {
    const close = (): void => this.#socket.close(code, reason.slice(0, 100));
    if (this.#gate === null) close();
    else this.#gate.pass(false, close);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #fail(id: string): void {
    const error = new DuplexError('engine_error', 'The engine has failed, as a fault wants it.');
    this.#write(
      { type: 'error', sessionId: null, seq: null, text: '' },
      stampless(handshakeErrorEvent(error), id),
    );
    this.#socket.close(1011, 'engine_error');
  }

  #write(event: StampedEvent, text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const { type, seq, sessionId, responseId, tokens, samples } = event;
    this.#truth.note(truthEvent(type), {
      bytes: Buffer.byteLength(text),
      ...(tokens === undefined ? {} : { tokens }),
      ...(samples === undefined ? {} : { samples }),
      duplex: { type, session: sessionId, seq, response: responseId ?? null },
    });
    this.#socket.send(text);
    if (this.#socket.bufferedAmount > mostPendingBytes) this.#socket.terminate();
  }
}

function truthEvent(type: string): TruthEvent {
  if (type.endsWith('audio.delta')) return 'audio';
  if (type.endsWith('transcript.delta') || type.endsWith('text.delta')) return 'text';
  if (type === 'response.done') return 'finish';
  return type === 'error' ? 'error' : 'event';
}

/** What a fault of `--fault` does to a session beyond what the gate does to its events. */
function faultsOf(fault: RequestFault | null): SessionFaults {
  return {
    factor: fault?.kind === 'slow-stage' ? fault.factor : 1,
    engineDead: fault?.kind === 'dead-replica',
    claimedRateHz: fault?.kind === 'wrong-rate' ? fault.sampleRateHz : null,
  };
}

function refusalOf(fault: RequestFault | null, maxSessions: number): DuplexError | null {
  if (fault?.kind !== 'status') return null;
  if (fault.status === 429)
    return new DuplexError('resource_exhausted', `duplex_session_capacity_exhausted: limit=${maxSessions}`);
  return new DuplexError('internal_error', `The server refuses with ${fault.status}, as a fault wants it.`);
}

/** One value of a query. */
function queryValue(query: unknown, key: string): string | null {
  if (typeof query !== 'object' || query === null) return null;
  const value: unknown = new Map(Object.entries(query)).get(key);
  return typeof value === 'string' ? value : null;
}

/** Serves a socket of a full-duplex conversation. */
export function serveDuplexSocket(
  context: ApiContext,
  duplex: DuplexServer,
  socket: WebSocket,
  request: FastifyRequest,
): void {
  const { query } = request;
  const truth = context.truthLog.entry(callersId(request) ?? request.id);
  truth.note('accepted', { atMs: request.acceptedMs });
  const model = queryValue(query, 'model');
  const fault = context.faults.next(model);
  const wire = new SocketWire(socket, {
    truth,
    fault,
    newId: duplex.parts.newId,
    reset: () => setTimeout(() => request.raw.socket.resetAndDestroy(), resetDelayMs),
  });
  const connection = new DuplexConnection(duplex, wire, {
    autostart: queryValue(query, 'autostart') !== '0' && queryValue(query, 'resume') !== '1',
    model,
    faults: faultsOf(fault),
    refusal: refusalOf(fault, duplex.limits.maxSessions),
    delayMs: fault?.kind === 'slow-headers' ? fault.ms : 0,
    checkModel(name) {
      try {
        checkModel(name, context);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        throw new DuplexError('invalid_duplex_runtime_config', error.message, 'model');
      }
    },
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) connection.receiveBinary();
    else connection.receive(Buffer.isBuffer(data) ? data : Buffer.from(String(data)));
  });
  socket.on('close', () => {
    truth.note(connection.session === null || connection.session.ended ? 'done' : 'abort');
    connection.close();
  });
  // A broken connection, or a frame that is too large, is followed by its close.
  socket.on('error', () => {});
}
