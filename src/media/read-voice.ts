import { readFile } from 'node:fs/promises';
import { InputFileError, messageOf, UsageError } from '../foundation/errors.ts';
import { AudioDecodeError, decodeAudio } from './decode-audio.ts';
import { ClipProbeError, probeClip } from './probe-clip.ts';
import { sniffMime } from './sniff-mime.ts';

/**
 * Reads the sound of a voice that a model is to speak with, as it is sent: the file's own bytes.
 * @param flag that named it, for messages
 * @throws UsageError where there is no such file, InputFileError where no sound is in it
 */
export async function readVoice(path: string, flag: string): Promise<Buffer> {
  const bytes = await bytesOf(path, flag);
  const why = await whyNoSound(bytes);
  if (why === null) return bytes;
  throw new InputFileError(
    `${flag}: ${path} is no voice to answer with: ${why}. Expected a WAV file with sound in it.`,
  );
}

async function bytesOf(path: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new UsageError(`Reference audio does not exist: ${path} (${flag})`, { cause });
    throw new InputFileError(`${flag}: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** @returns `null` where there is sound, and nothing but sound */
async function whyNoSound(bytes: Buffer): Promise<string | null> {
  // The sound of a video decodes as well.
  if (sniffMime(bytes)?.startsWith('video/') === true) return await whyNoSoundAlone(bytes);
  try {
    await decodeAudio('reference', bytes);
    return null;
  } catch (error) {
    if (!(error instanceof AudioDecodeError)) throw error;
    // Sound that is not decoded here; its container still says what it is.
    if (error.fault === 'unsupported') return await whyNoSoundAlone(bytes);
    return error.message.replace(/\.$/, '');
  }
}

/** By what the container says. */
async function whyNoSoundAlone(bytes: Buffer): Promise<string | null> {
  try {
    const { audio, video, durationS } = await probeClip(bytes);
    if (video !== null) return 'it is a video';
    return audio !== null && durationS > 0 ? null : 'it has no sound';
  } catch (error) {
    if (!(error instanceof ClipProbeError)) throw error;
    return messageOf(error);
  }
}
