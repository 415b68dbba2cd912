import type { RawRecord } from '../../drive/messages.ts';
import { messageOf } from '../../foundation/errors.ts';
import { decodeAudio } from '../../media/decode-audio.ts';
import type { AudioFacts, RequestRecord } from '../../records/request-record.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';

/**
 * What is still missing when a request ends and must not cost its load thread any time: tokens counted from the text
 * where no server word gave them, and the length of encoded audio. After this the record is complete for good.
 */
export async function finishRecord(raw: RawRecord, tokenizer: Tokenizer | null): Promise<RequestRecord> {
  let { record } = raw;
  if (record.outputTokens === null && record.text !== '' && tokenizer) {
    record = { ...record, outputTokens: tokenizer.count(record.text), outputTokensSource: 'tokenizer' };
  }
  if (record.audio && raw.encodedAudio) {
    record = { ...record, audio: await decoded(record.audio, raw.encodedAudio) };
  }
  return record;
}

async function decoded(
  facts: AudioFacts,
  encoded: NonNullable<RawRecord['encodedAudio']>,
): Promise<AudioFacts> {
  try {
    const { sampleRateHz, channels, frames, durationS } = await decodeAudio(encoded.format, encoded.bytes);
    return { ...facts, sampleRateHz, channels, frames, durationS };
  } catch (error) {
    return { ...facts, note: facts.note ?? `the audio could not be decoded: ${messageOf(error)}` };
  }
}
