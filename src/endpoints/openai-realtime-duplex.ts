import type { Sample } from '../workloads/sample.ts';
import { unpackLivePlan } from './duplex/live-body.ts';
import { liveObservation, settingsObject } from './duplex/live-observation.ts';
import { prepareLive } from './duplex/live-request.ts';
import { LiveSession } from './duplex/live-session.ts';
import { observeSpeech } from './duplex/observe-speech.ts';
import { maxMessageBytes } from './duplex/realtime-connection.ts';
import { realClock, type SessionClock } from './duplex/session-clock.ts';
import { SessionFault } from './duplex/session-fault.ts';
import { prepareNativeSpeech } from './duplex/speech-request.ts';
import type {
  Endpoint,
  Observation,
  ObserveContext,
  PreparedRequest,
  StageMetricsNeed,
  Target,
} from './endpoint.ts';

/** The opening request may take as long as the session's first word, ms. */
const openTimeoutMs = 20_000;

function prepare(sample: Sample, target: Target): PreparedRequest {
  return sample.live === undefined
    ? prepareNativeSpeech(sample, target)
    : prepareLive(sample, sample.live, target);
}

/** Holds one live session. Its limits are its own: the recording's length and the sample's time limit. */
export async function observeLive(
  prepared: PreparedRequest,
  { transport, stop }: Pick<ObserveContext, 'transport' | 'stop'>,
  clock: SessionClock = realClock,
): Promise<Observation> {
  const { update, pcm, frames, settings } = unpackLivePlan(prepared.body);
  const session = new LiveSession(
    {
      update,
      pcm,
      frames,
      sampleRateHz: Number(settings.sampleRateHz),
      serverVad: settings.serverVad === true,
      timeoutS: Number(settings.timeoutS),
    },
    {
      clock,
      stop,
      timeoutMs: 0,
      openWebSocket: (request, handler) => transport.openWebSocket(request, handler),
    },
  );
  const { url, headers } = prepared;
  let fault: SessionFault | null = null;
  try {
    await session.run({ url, headers, openTimeoutMs, maxMessageBytes });
  } catch (error) {
    if (!(error instanceof SessionFault)) throw error;
    fault = error;
  }
  return liveObservation(
    session,
    {
      durationS: Number(settings.durationS),
      requireResponse: settings.requireResponse === true,
      caseFacts: settingsObject(settings.caseFacts),
      requestId: headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1] ?? null,
    },
    fault,
  );
}

function wantsStageMetrics({ percentileMetrics }: StageMetricsNeed): boolean {
  return percentileMetrics.includes('tpot') || percentileMetrics.includes('itl');
}

/** Full-duplex conversations over a WebSocket. */
export const openaiRealtimeDuplex: Endpoint = {
  name: 'openai-realtime-duplex',
  doc: 'Full duplex over a WebSocket, /v1/realtime?duplex=1: live conversations, sound and pictures in and speech out, in real time; plain texts are spoken, one session each.',
  apiName: 'OpenAI Realtime API',
  defaultPath: '/v1/realtime',
  urlSuffixes: ['realtime', 'duplex'],
  task: 'generation',
  prompts: 'plain',
  samplingParameters: true,
  overWebSocket: true,
  traits: { name: 'openai-realtime-duplex', itl: 'chunk_gap', latencyEnd: 'body_end', output: 'speech' },
  wantsStageMetrics,
  prepare,
  observe: (prepared, context) =>
    prepared.reading.session === 'live' ? observeLive(prepared, context) : observeSpeech(prepared, context),
};
