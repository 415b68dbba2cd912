import type { PcmAudio } from './pcm-audio.ts';
import { ProxyError } from './proxy-error.ts';
import type { StageRequest } from './stage-engine.ts';

/** What the reply's container and delivery are is this server's affair. */
const ownFields = ['stream', 'stream_format', 'response_format', 'initial_codec_chunk_frames'];

/** The request for speech as the remote server gets it: bare samples, as they are made. */
export function remoteSpeechBody(request: StageRequest, model: string): Record<string, unknown> {
  const body: Record<string, unknown> = { ...request.source?.body };
  for (const name of ownFields) delete body[name];
  const speed = request.task.kind === 'speech' ? request.task.speed : 1;
  return {
    ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    model,
    response_format: 'pcm',
    // Servers refuse to stretch a stream.
    ...(speed === 1 ? { stream_format: 'audio' } : {}),
  };
}

/**
 * Sound rate that a reply's headers name, Hz; `null` = they name none.
 * @throws ProxyError where it is no sound at all, or another than that of the stage
 */
export function checkSpeechHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  sampleRateHz: number,
): void {
  const type = String(headers['content-type'] ?? '');
  if (/json|^text\//i.test(type))
    throw new ProxyError(502, `The remote server answered with ${type} where samples were asked for.`);
  const named = headers['x-sample-rate'] ?? /;\s*rate=(\d+)/i.exec(type)?.[1];
  if (named === undefined || Number(named) === sampleRateHz) return;
  throw new ProxyError(
    502,
    `The remote server speaks at ${String(named)} Hz, but the stage is deployed for ${sampleRateHz} Hz: ` +
      'set sim.speech.sampleRateHz.',
  );
}

/**
 * Whole samples of a reply, however its bytes are cut.
 * @throws ProxyError for no sound, or half a sample at the end
 */
export async function* remoteSpeech(
  bytes: AsyncIterable<Uint8Array>,
  sampleRateHz: number,
): AsyncGenerator<PcmAudio> {
  let odd = Buffer.alloc(0);
  let samples = 0;
  for await (const piece of bytes) {
    const joined = Buffer.concat([odd, piece]);
    const even = joined.length - (joined.length % 2);
    odd = joined.subarray(even);
    if (even === 0) continue;
    samples += even / 2;
    yield { samples: even / 2, sampleRateHz, pcm: joined.subarray(0, even) };
  }
  if (odd.length > 0)
    throw new ProxyError(502, 'The remote server ended its speech in the middle of a sample.');
  if (samples === 0) throw new ProxyError(502, 'The remote server sent no sound.');
}
