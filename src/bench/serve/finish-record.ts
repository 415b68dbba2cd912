import type { RawRecord } from '../../drive/messages.ts';
import { messageOf } from '../../foundation/errors.ts';
import { AudioDecodeError, decodeAudio } from '../../media/decode-audio.ts';
import { eventKinds } from '../../records/event-log.ts';
import type { AudioFacts, Outcome, RequestRecord } from '../../records/request-record.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';

/**
 * What is still missing when a request ends and must not cost its load thread any time: tokens counted from the text
 * where no server word gave them, and the length of encoded audio. A reply of nothing but audio turns into a failure
 * here where that audio can't be decoded. After this the record is complete for good.
 */
export async function finishRecord(raw: RawRecord, tokenizer: Tokenizer | null): Promise<RequestRecord> {
  let { record } = raw;
  if (record.outputTokens === null && record.text !== '' && tokenizer) {
    record = { ...record, outputTokens: tokenizer.count(record.text), outputTokensSource: 'tokenizer' };
  }
  if (record.audio && raw.encodedAudio) record = await decoded(record, record.audio, raw.encodedAudio);
  return record;
}

async function decoded(
  record: RequestRecord,
  facts: AudioFacts,
  encoded: NonNullable<RawRecord['encodedAudio']>,
): Promise<RequestRecord> {
  try {
    const { warning, ...length } = await decodeAudio(encoded.format, encoded.bytes);
    return { ...record, audio: { ...facts, ...length, note: facts.note ?? warning } };
  } catch (error) {
    const note = `the audio could not be decoded: ${messageOf(error)}`;
    const audio = { ...facts, note: facts.note ?? note };
    // What this client has no decoder for may be sound, and so may audio when the decoder itself did not load.
    const isServersFault = error instanceof AudioDecodeError && error.fault !== 'unsupported';
    if (!isServersFault || !record.outcome.ok || holdsMore(record)) return { ...record, audio };
    return failed({ ...record, audio }, error, encoded.bytes);
  }
}

/** Kinds of events that are output beside audio. */
const otherOutput = new Set<number>([
  eventKinds.text,
  eventKinds.reasoning,
  eventKinds.tool,
  eventKinds.refusal,
  eventKinds.image,
]);

function holdsMore({ text, image, events }: RequestRecord): boolean {
  return text !== '' || image !== null || events.kinds.some((kind) => otherOutput.has(kind));
}

/** Most of the audio that is kept as proof, bytes. */
const proofBytes = 1024;

function failed(record: RequestRecord, error: AudioDecodeError, bytes: Uint8Array): RequestRecord {
  const what = error.fault === 'empty' ? 'holds no sample' : 'could not be decoded';
  const message = `the audio of the reply ${what}: ${error.message}`;
  const last = record.attempts.at(-1);
  const outcome: Outcome = {
    ok: false,
    kind: error.fault === 'empty' ? 'empty' : 'malformed',
    status: last?.exchanges.at(-1)?.status ?? null,
    message,
    body: `data:application/octet-stream;base64,${Buffer.from(bytes.subarray(0, proofBytes)).toString('base64')}`,
  };
  const attempts = last ? [...record.attempts.slice(0, -1), { ...last, error: message }] : record.attempts;
  return { ...record, attempts, outcome };
}
