import type { Endpoint, Observation } from '../endpoints/endpoint.ts';
import { nowMs } from '../foundation/clock.ts';
import { messageOf } from '../foundation/errors.ts';
import { StopSwitch } from '../foundation/stop-switch.ts';
import { eventLogOf } from '../records/event-log.ts';
import { journalMs } from '../records/journal-ms.ts';
import type { Attempt, RequestRecord } from '../records/request-record.ts';
import type { Transport } from '../transport/transport.ts';
import { startLoopClock } from './due-clock.ts';
import type { PhaseMessage, RawRecord } from './messages.ts';
import { unpackRequest } from './request-table.ts';
import { SharedControl } from './shared-control.ts';

export type LoadWorkerOptions = {
  readonly endpoint: Endpoint;
  readonly transport: Transport;
  readonly maxLineBytes: number;
  readonly onRecord: (phase: number, raw: RawRecord) => void;
};

/** A load thread's inside: claims tickets, sends, watches, hands on records. It knows no dataset and no metric. */
export class LoadWorker {
  readonly #options: LoadWorkerOptions;
  readonly #stop = new StopSwitch();
  #phase: PhaseMessage | null = null;
  #control: SharedControl | null = null;
  #startMs: number | null = null;
  /** A turn of the event loop is asked for, which will look for tickets. */
  #turnComes = false;

  constructor(options: LoadWorkerOptions) {
    this.#options = options;
  }

  load(phase: PhaseMessage): void {
    this.#phase = phase;
    this.#control = new SharedControl(phase.control);
    this.#startMs = null;
  }

  go(startMs: number): void {
    const phase = this.#phase;
    this.#startMs = startMs;
    if (phase?.dueMs && this.#control && phase.clock !== 'worker') {
      startLoopClock(this.#control, { dueMs: phase.dueMs, startMs, spin: phase.clock === 'spin' }, () =>
        this.wake(),
      );
    }
    this.wake();
  }

  /**
   * Takes what is due, as far as slots are free. One request for each turn of the event loop: a burst of new connections
   * must not hold up the reading of replies that are under way, and several threads share it.
   */
  wake(): void {
    const phase = this.#phase;
    const control = this.#control;
    const startMs = this.#startMs;
    if (this.#turnComes || !phase || !control || startMs === null) return;
    const ticket = control.claim();
    if (ticket < 0) return;
    this.#turnComes = true;
    setImmediate(this.#turn);
    void this.#send(phase, control, { ticket, startMs, admittedMs: nowMs() });
  }

  readonly #turn = (): void => {
    this.#turnComes = false;
    this.wake();
  };

  abort(): void {
    this.#stop.stop();
  }

  async #send(
    phase: PhaseMessage,
    control: SharedControl,
    { ticket, startMs, admittedMs }: { ticket: number; startMs: number; admittedMs: number },
  ): Promise<void> {
    const { endpoint, transport, maxLineBytes, onRecord } = this.#options;
    const { prepared, facts } = unpackRequest(phase.requests, ticket);
    let observation: Observation;
    try {
      observation = await endpoint.observe(prepared, {
        transport,
        timeoutMs: phase.timeoutMs,
        maxLineBytes,
        stop: this.#stop,
      });
    } catch (error) {
      // An adapter that throws has a bug; the run and the other requests must not pay for it.
      observation = brokenObservation(error);
    }
    control.releaseSlot();
    this.wake();
    const { encodedAudio, duplexArtifacts, ...seen } = observation;
    const record: RequestRecord = {
      index: ticket,
      role: phase.role,
      requestId: facts.requestId,
      endpoint: endpoint.name,
      model: prepared.model,
      intendedMs: journalMs(startMs + (phase.dueMs?.[ticket] ?? 0)),
      admittedMs: journalMs(admittedMs),
      plannedPromptTokens: facts.plannedPromptTokens,
      expectedOutputTokens: facts.expectedOutputTokens,
      inputAudioDurationS: facts.inputAudioDurationS,
      duplex: null,
      ...seen,
      attempts: seen.attempts.map(roundAttempt),
    };
    onRecord(phase.phase, { record, encodedAudio, ...(duplexArtifacts ? { duplexArtifacts } : {}) });
  }
}

/** To the journal's resolution, as event logs are, so that a report from memory and one from disk are the same. */
function roundAttempt(attempt: Attempt): Attempt {
  const round = (ms: number | null): number | null => (ms === null ? null : journalMs(ms));
  return {
    sendMs: journalMs(attempt.sendMs),
    endMs: journalMs(attempt.endMs),
    error: attempt.error,
    exchanges: attempt.exchanges.map((exchange) => ({
      ...exchange,
      sendMs: journalMs(exchange.sendMs),
      connectedMs: round(exchange.connectedMs),
      headersMs: round(exchange.headersMs),
      endMs: round(exchange.endMs),
    })),
  };
}

function brokenObservation(error: unknown): Observation {
  return {
    attempts: [],
    events: eventLogOf([]),
    responses: [],
    text: '',
    promptTokens: null,
    outputTokens: null,
    outputTokensSource: null,
    audio: null,
    image: null,
    video: null,
    encodedAudio: null,
    outcome: {
      ok: false,
      kind: 'unsendable',
      status: null,
      message: `bug in the endpoint adapter: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
      body: null,
    },
  };
}
