import type { Attempt } from '../../records/request-record.ts';
import type { Observation, ObserveContext, PreparedRequest, StopSignal } from '../endpoint.ts';
import { asText } from '../json-values.ts';
import { unpackLivePlan } from './live-body.ts';
import { attemptOf } from './live-observation.ts';
import { maxMessageBytes } from './realtime-connection.ts';
import { realClock, type SessionClock } from './session-clock.ts';
import { SessionFault } from './session-fault.ts';
import { speechObservation } from './speech-observation.ts';
import { type SpeechScript, SpeechSession } from './speech-session.ts';

const openTimeoutMs = 120_000;
/** How long a server without room is asked again, ms, and after which pauses. */
const capacityLimitMs = 120_000;
const firstPauseMs = 250;
const longestPauseMs = 2000;

/** Has one text spoken, in as many tries as the server's capacity takes. */
export async function observeSpeech(
  prepared: PreparedRequest,
  { transport, stop, timeoutMs }: Pick<ObserveContext, 'transport' | 'stop' | 'timeoutMs'>,
  clock: SessionClock = realClock,
): Promise<Observation> {
  const script = scriptOf(prepared);
  const { url, headers } = prepared;
  const earlier: Attempt[] = [];
  const startMs = clock.nowMs();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const session = new SpeechSession(script, {
      clock,
      stop,
      timeoutMs,
      openWebSocket: (request, handler) => transport.openWebSocket(request, handler),
    });
    let fault: SessionFault | null = null;
    try {
      await session.run({ url, headers, openTimeoutMs, maxMessageBytes });
    } catch (error) {
      if (!(error instanceof SessionFault)) throw error;
      fault = error;
    }
    const isFull = fault?.code === 'resource_exhausted' && session.core.session === null;
    if (isFull && clock.nowMs() + pauseMs < startMs + capacityLimitMs && !stop.stopped) {
      const attempt = attemptOf(session.core, fault);
      if (attempt !== null) earlier.push(attempt);
      await pause(clock, pauseMs, stop);
    } else {
      const requestId = headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1] ?? null;
      return speechObservation(session, { earlier, requestId, fault });
    }
  }
}

function scriptOf({ body }: PreparedRequest): SpeechScript {
  const { update, pcm, settings } = unpackLivePlan(body);
  return {
    update,
    reference: pcm,
    text: asText(settings.text) ?? '',
    manner: settings.manner === 'native' ? 'native' : 'turn',
    trigger: settings.trigger === 'vad' ? 'vad' : 'explicit',
    sampleRateHz: Number(settings.sampleRateHz),
  };
}

/** Ends early where the run stops. */
function pause(clock: SessionClock, ms: number, stop: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.nowMs() + ms, () => {
      release();
      resolve();
    });
    const release = stop.onStop(() => {
      cancel();
      resolve();
    });
  });
}
