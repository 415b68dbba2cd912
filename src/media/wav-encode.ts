/** Format of 16-bit PCM. */
export type PcmFormat = { readonly sampleRateHz: number; readonly channels: number };

/** Length of the RIFF header before the samples. */
export const wavHeaderBytes = 44;
const bytesPerSample = 2;
/** A RIFF size is 32 bits wide. */
const mostDataBytes = 0xffffffff - wavHeaderBytes;

/**
 * A complete WAV file: a RIFF header of 44 bytes and the samples.
 * @param pcm 16-bit little-endian, interleaved, whole frames
 * @throws RangeError where the samples are not whole frames, or more than a RIFF size can say
 */
export function encodeWav(pcm: Uint8Array, { sampleRateHz, channels }: PcmFormat): Buffer {
  const blockAlign = channels * bytesPerSample;
  if (pcm.length % blockAlign !== 0)
    throw new RangeError(`${pcm.length} bytes are not whole frames of ${blockAlign} bytes`);
  if (pcm.length > mostDataBytes)
    throw new RangeError(`${pcm.length} bytes of samples are too many for a WAV file`);
  const wav = Buffer.allocUnsafe(wavHeaderBytes + pcm.length);
  writeWavHeader(wav, pcm.length, { sampleRateHz, channels });
  wav.set(pcm, wavHeaderBytes);
  return wav;
}

/** Writes the 44 bytes of a RIFF header for so many bytes of 16-bit samples to the start of `wav`. */
export function writeWavHeader(wav: Buffer, dataBytes: number, { sampleRateHz, channels }: PcmFormat): void {
  const blockAlign = channels * bytesPerSample;
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(wavHeaderBytes - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(channels, 22);
  wav.writeUInt32LE(sampleRateHz, 24);
  wav.writeUInt32LE(sampleRateHz * blockAlign, 28);
  wav.writeUInt16LE(blockAlign, 32);
  wav.writeUInt16LE(bytesPerSample * 8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
}
