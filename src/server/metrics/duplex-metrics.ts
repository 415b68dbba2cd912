import type {
  Decision,
  DecisionTrigger,
  DuplexObserver,
  ResponseWatch,
  TurnEnd,
} from '../duplex/duplex-observer.ts';
import type { DuplexLoad } from '../duplex/duplex-server.ts';
import { Playback } from './playback.ts';
import { Counter, Gauge, type Labels, type MetricFamily } from './prometheus.ts';
import type { RunObserver, StageReplica } from './watched-sink.ts';

export type DuplexMetricsOptions = {
  readonly model: Labels;
  /** Without it nothing is observed. */
  readonly enabled: boolean;
  /** `null` = the server is only starting. */
  readonly load: () => DuplexLoad | null;
  /** The clock of the conversations. */
  readonly nowMs: () => number;
  /** Takes sessions as requests, and what responses have in common with them. */
  readonly runs: RunObserver;
  /** Stages that give text and sound; `null` = the model has none. */
  readonly textStageId: number | null;
  readonly audioStageId: number | null;
  /** Of sound that is said, Hz. */
  readonly sampleRateHz: number;
};

/** Conversations are simulated in the process with the API, as the first replica of each stage. */
function firstReplica(stageId: number | null): StageReplica | null {
  return stageId === null ? null : { stageId, replicaId: 0 };
}

/** What a server says of its full-duplex conversations at `/metrics`. */
export class DuplexMetrics implements DuplexObserver {
  readonly #options: DuplexMetricsOptions;
  readonly #opened = new Counter('vllm_omni:duplex_sessions_opened_total', 'Sessions that were opened.');
  readonly #resumed = new Counter(
    'vllm_omni:duplex_sessions_resumed_total',
    'Sessions that their client came back to.',
  );
  readonly #ended = new Counter(
    'vllm_omni:duplex_sessions_ended_total',
    'Sessions that ended, by the reason that session.closed tells.',
  );
  readonly #refused = new Counter(
    'vllm_omni:duplex_refused_total',
    'Sessions (to open or to resume) and chats that were not let in, by the code of the error.',
  );
  readonly #units = new Counter('vllm_omni:duplex_units_total', 'Units of input that closed.');
  readonly #decisions = new Counter(
    'vllm_omni:duplex_decisions_total',
    'Decisions to speak, to speak on and to listen, at the end of a unit, after a commit, or on request.',
  );
  readonly #turns = new Counter(
    'vllm_omni:duplex_turns_committed_total',
    'Turns of users that were committed.',
  );
  readonly #responses = new Counter(
    'vllm_omni:duplex_responses_total',
    'Responses that ended, by reason: stop, barge_in, cancel, close, abort, error.',
  );
  readonly #epochs = new Counter(
    'vllm_omni:duplex_epochs_total',
    'Interruptions, each of which makes the output before it stale, by reason.',
  );
  readonly #inputAudio = new Counter('vllm_omni:duplex_input_audio_s_total', 'Sound that came in, seconds.');
  readonly #inputFrames = new Counter('vllm_omni:duplex_input_frames_total', 'Pictures that came in.');
  readonly #dropped = new Counter(
    'vllm_omni:duplex_events_dropped_total',
    'Events of clients that were dropped, as they came faster than they could be applied.',
  );
  /** In the order in which they are shown. */
  readonly families: readonly MetricFamily[];

  constructor(options: DuplexMetricsOptions) {
    this.#options = options;
    this.families = [
      ...this.#gauges(),
      this.#opened,
      this.#resumed,
      this.#refused,
      this.#ended,
      this.#units,
      this.#decisions,
      this.#turns,
      this.#responses,
      this.#epochs,
      this.#inputAudio,
      this.#inputFrames,
      this.#dropped,
    ];
  }

  sessionOpened(): void {
    this.#add(this.#opened);
  }

  sessionResumed(): void {
    this.#add(this.#resumed);
  }

  refused(kind: 'session' | 'chat', code: string): void {
    this.#add(this.#refused, { kind, reason: code });
  }

  sessionEnded(reason: string, end: 'close' | 'abort', openedMs: number): void {
    const { enabled, runs, nowMs } = this.#options;
    this.#add(this.#ended, { finished_reason: reason });
    if (enabled) runs.ended(end === 'close' ? 'stop' : 'abort', openedMs, nowMs());
  }

  heard(audioMs: number, videoFrames: number): void {
    this.#add(this.#inputAudio, {}, audioMs / 1000);
    if (videoFrames > 0) this.#add(this.#inputFrames, {}, videoFrames);
  }

  unitClosed(): void {
    this.#add(this.#units);
  }

  decided(trigger: DecisionTrigger, decision: Decision): void {
    this.#add(this.#decisions, { trigger, decision });
  }

  turnCommitted(): void {
    this.#add(this.#turns);
  }

  epochRaised(reason: string): void {
    this.#add(this.#epochs, { reason });
  }

  eventsDropped(count: number): void {
    this.#add(this.#dropped, {}, count);
  }

  responseBegun(startMs: number, aloud: boolean): ResponseWatch {
    return new WatchedResponse(this.#options, startMs, aloud, (reason) =>
      this.#add(this.#responses, { finished_reason: reason }),
    );
  }

  #add(counter: Counter, labels: Labels = {}, amount = 1): void {
    const { enabled, model } = this.#options;
    if (enabled) counter.add({ ...model, ...labels }, amount);
  }

  #gauges(): Gauge[] {
    const { enabled, model, load } = this.#options;
    const shown = (value: (now: DuplexLoad) => number) => (): (readonly [Labels, number])[] => {
      const now = enabled ? load() : null;
      return now === null ? [] : [[model, value(now)]];
    };
    return [
      new Gauge(
        'vllm_omni:num_duplex_sessions_attached',
        'Sessions with a socket.',
        shown(({ attached }) => attached),
      ),
      new Gauge(
        'vllm_omni:num_duplex_sessions_detached',
        'Sessions whose socket is gone, and that wait for their client to come back.',
        shown(({ detached }) => detached),
      ),
      new Gauge(
        'vllm_omni:num_duplex_chats',
        'Chats, which take a place of a session each.',
        shown(({ chats }) => chats),
      ),
      new Gauge(
        'vllm_omni:duplex_max_sessions',
        'Places for sessions and chats.',
        shown(({ maxSessions }) => maxSessions),
      ),
      new Gauge(
        'vllm_omni:num_duplex_responses_running',
        'Responses that are being said.',
        shown(({ responses }) => responses),
      ),
    ];
  }
}

/** Watches a response in the families that chats have too. */
class WatchedResponse implements ResponseWatch {
  readonly #options: DuplexMetricsOptions;
  readonly #startMs: number;
  readonly #aloud: boolean;
  readonly #onEnd: (reason: TurnEnd) => void;
  readonly #playback = new Playback();
  #samples = 0;
  #lastAudioMs = 0;
  #saidText = false;

  constructor(
    options: DuplexMetricsOptions,
    startMs: number,
    aloud: boolean,
    onEnd: (reason: TurnEnd) => void,
  ) {
    this.#options = options;
    this.#startMs = startMs;
    this.#aloud = aloud;
    this.#onEnd = onEnd;
  }

  said(tokens: number, tokenGapsMs: readonly number[], samples: number): void {
    const { enabled, nowMs } = this.#options;
    if (!enabled) return;
    const now = nowMs();
    if (tokens > 0) this.#text(tokenGapsMs, now - this.#startMs);
    if (samples > 0) this.#audio(samples, now);
  }

  ended(reason: TurnEnd): void {
    const { enabled, runs, audioStageId } = this.#options;
    const stage = firstReplica(audioStageId);
    this.#onEnd(reason);
    if (enabled && this.#aloud && stage !== null)
      runs.audioEnded(stage, this.#playback, this.#samples, this.#lastAudioMs);
  }

  #text(tokenGapsMs: readonly number[], sinceStartMs: number): void {
    const { runs, textStageId } = this.#options;
    const stage = firstReplica(textStageId);
    if (stage === null) return;
    if (!this.#saidText) runs.text(stage, 1, sinceStartMs, true);
    this.#saidText = true;
    for (const gapMs of tokenGapsMs) runs.text(stage, 1, gapMs, false);
  }

  #audio(samples: number, now: number): void {
    const { runs, audioStageId, sampleRateHz } = this.#options;
    const stage = firstReplica(audioStageId);
    this.#lastAudioMs = now - this.#startMs;
    if (stage !== null && !this.#playback.started) runs.firstAudio(stage, this.#lastAudioMs);
    this.#playback.chunk(now, (samples / sampleRateHz) * 1000);
    this.#samples += samples;
  }
}
