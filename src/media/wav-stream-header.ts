import { encodeWav, type PcmFormat } from './wav-encode.ts';

/** Header of a WAV stream whose length is not known when it begins: both sizes are the largest there are. */
export function wavStreamHeader(format: PcmFormat): Buffer {
  const header = encodeWav(Buffer.alloc(0), format);
  header.writeUInt32LE(0xffffffff, 4);
  header.writeUInt32LE(0xffffffff, 40);
  return header;
}
