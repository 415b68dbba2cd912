import { id3Length } from './mp3-channels.ts';

/** Bit rates of Layer III by index (ISO/IEC 11172-3 and 13818-3), kbit/s. */
const kbitsMpeg1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const kbitsMpeg2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const ratesMpeg1Hz = [44_100, 48_000, 32_000];
/** Encoders disagree whether the length in the header counts the header's own frame; no frame is longer. */
const longestFrameBytes = 1441;

type Frame = { readonly bytes: number; readonly isMpeg1: boolean; readonly isMono: boolean };

/**
 * What of an MP3 is missing at its end.
 * `cut`: its Xing or Info header announces more bytes than there are. `lastFrame`: the last frame is not whole, which a
 * cut leaves and sloppy writers do, too.
 */
export function mp3Missing(bytes: Uint8Array): { readonly cutBytes: number; readonly lastFrame: boolean } {
  const start = id3Length(bytes);
  const announced = announcedBytes(bytes, start);
  const missing = announced === null ? 0 : announced - (bytes.length - start);
  return { cutBytes: missing > longestFrameBytes ? missing : 0, lastFrame: endsInFrame(bytes, start) };
}

function frameAt(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0] = bytes.subarray(at, at + 4);
  const version = (b1 >> 3) & 3;
  if (b0 !== 0xff || (b1 & 0xe6) !== 0xe2 || version === 1) return null;
  const isMpeg1 = version === 3;
  const kbits = (isMpeg1 ? kbitsMpeg1 : kbitsMpeg2)[b2 >> 4];
  const baseHz = ratesMpeg1Hz[(b2 >> 2) & 3];
  if (!kbits || !baseHz) return null;
  const rateHz = version === 3 ? baseHz : version === 2 ? baseHz / 2 : baseHz / 4;
  const frameBytes = Math.floor(((isMpeg1 ? 144 : 72) * kbits * 1000) / rateHz) + ((b2 >> 1) & 1);
  return { bytes: frameBytes, isMpeg1, isMono: b3 >> 6 === 3 };
}

/** The length that the first frame announces in place of sound; `null` = none. */
function announcedBytes(bytes: Uint8Array, start: number): number | null {
  const frame = frameAt(bytes, start);
  if (!frame) return null;
  const sideBytes = frame.isMpeg1 ? (frame.isMono ? 17 : 32) : frame.isMono ? 9 : 17;
  const at = start + 4 + sideBytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = String.fromCharCode(...bytes.subarray(at, at + 4));
  if ((mark !== 'Xing' && mark !== 'Info') || at + 16 > bytes.length) return null;
  const flags = view.getUint32(at + 4);
  if ((flags & 2) === 0) return null;
  const length = view.getUint32(at + ((flags & 1) === 0 ? 8 : 12));
  // A writer that can't go back leaves 0.
  return length === 0 ? null : length;
}

function endsInFrame(bytes: Uint8Array, start: number): boolean {
  let at = start;
  for (let frame = frameAt(bytes, at); frame; frame = frameAt(bytes, at)) {
    if (at + frame.bytes > bytes.length) return true;
    at += frame.bytes;
  }
  return false;
}
