import type { LiveInput } from '../workloads/sample.ts';
import {
  type Event,
  listen,
  politeServer,
  preparedLive,
  type VirtualServer,
} from './duplex/virtual-session.suite.ts';
import type { Observation, Target } from './endpoint.ts';
import { observeLive, openaiRealtimeDuplex } from './openai-realtime-duplex.ts';

const { prepare } = openaiRealtimeDuplex;

/** Holds a session against a server. */
export function hold(
  server: VirtualServer,
  live: Partial<LiveInput> = {},
  target: Partial<Target> = {},
): Promise<Observation> {
  const prepared = preparedLive(prepare, live, target);
  return server.observe(({ transport, stop, clock }) => observeLive(prepared, { transport, stop }, clock));
}

/** A server that says these things after so many appends, and then is polite. */
export function speaking(after: number, say: (server: VirtualServer) => void): VirtualServer {
  const server = politeServer();
  let appends = 0;
  return server.on('input_audio_buffer.append', () => {
    appends += 1;
    if (appends === after) say(server);
  });
}

/** `null` = it succeeded. */
export const messageOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.message);

/** `null` = it succeeded. */
export const kindOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.kind);

/** The event log among its artifacts. */
export const eventsJson = (seen: Observation): Event[] =>
  JSON.parse(Buffer.from(seen.duplexArtifacts?.eventsJson ?? []).toString());

/** The end of a polite session, for servers with a beginning of their own. */
export function politeEnd(server: VirtualServer): VirtualServer {
  return server
    .on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', event: {} }, 3);
      server.emit(listen(), 40);
    })
    .on('session.close', () => server.emit({ type: 'session.closed' }, 2));
}
