import type { OutputFormat } from 'mediabunny';
import type { PcmFormat } from './wav-encode.ts';

/** A library that brings what mediabunny needs of a browser, and registers its encoders once. */
async function loadMediabunny(): Promise<typeof import('mediabunny')> {
  const [mediabunny, { registerAacEncoder }, { registerMp3Encoder }] = await Promise.all([
    import('mediabunny'),
    import('@mediabunny/aac-encoder'),
    import('@mediabunny/mp3-encoder'),
  ]);
  registerAacEncoder();
  registerMp3Encoder();
  return mediabunny;
}

let loading: ReturnType<typeof loadMediabunny> | null = null;

/**
 * Encodes 16-bit samples with an encoder of mediabunny's, which works in a thread of its own.
 * Lazy: the encoders are WebAssembly, and most runs have WAV only.
 */
export async function mediabunnyEncode(
  pcm: Buffer,
  { sampleRateHz, channels }: PcmFormat,
  codec: 'aac' | 'mp3',
  bitsPerS: number,
  formatOf: (mediabunny: typeof import('mediabunny')) => OutputFormat,
): Promise<Buffer> {
  loading ??= loadMediabunny();
  const mediabunny = await loading;
  const target = new mediabunny.BufferTarget();
  const output = new mediabunny.Output({ format: formatOf(mediabunny), target });
  const source = new mediabunny.AudioSampleSource({ codec, bitrate: bitsPerS });
  output.addAudioTrack(source);
  await output.start();
  const sample = new mediabunny.AudioSample({
    // A copy: the library keeps what it is given, and the samples may be shared.
    data: new Uint8Array(pcm),
    format: 's16',
    numberOfChannels: channels,
    sampleRate: sampleRateHz,
    timestamp: 0,
  });
  await source.add(sample);
  sample.close();
  source.close();
  await output.finalize();
  if (target.buffer === null) throw new Error(`The ${codec} encoder gave no bytes`);
  return Buffer.from(target.buffer);
}
