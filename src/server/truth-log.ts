import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { hostClockOffsetMs, nowMs } from '../foundation/clock.ts';
import { InputFileError, messageOf } from '../foundation/errors.ts';

/** What leaves the process, or happens to a request, and is worth a line. */
export type TruthEvent =
  | 'accepted'
  | 'headers'
  | 'role'
  | 'text'
  | 'audio'
  | 'image'
  | 'video'
  | 'finish'
  | 'usage'
  /** An event of a full-duplex session that is none of the others. */
  | 'event'
  | 'done'
  | 'error'
  | 'abort';

/** Which event of a full-duplex session it was. */
export type TruthDuplex = {
  readonly type: string;
  /** The session; `null` = there was none yet. */
  readonly session: string | null;
  /** Its place in the session's order; `null` = it has none. */
  readonly seq: number | null;
  readonly response: string | null;
};

/** Counts of one event; what is absent is none. */
export type TruthCounts = {
  readonly duplex?: TruthDuplex;
  /** Tokens of text in it. */
  readonly tokens?: number;
  /** Bytes of the event itself: an SSE event from `data:` to its blank line, or a body. */
  readonly bytes?: number;
  /** PCM samples per channel in it. */
  readonly samples?: number;
  readonly images?: number;
  /** Frames of video in it. */
  readonly frames?: number;
  /** When it happened, ms on the process's clock, for what is noted afterwards; absent = this moment. */
  readonly atMs?: number;
};

/** The lines of one request. */
export type TruthEntry = {
  /**
   * Stamps and notes an event; to be called just before its bytes are written.
   * @param bytes as `counts.bytes`, apart from the counts so that a frequent event needs no object of its own
   */
  note(event: TruthEvent, counts?: TruthCounts, bytes?: number): void;
};

/**
 * What the server really sent and when: the ground truth that a client's measurements are held against. JSON lines,
 * one per event, buffered so that 25,000 a second cost little, and lost neither at exit nor at a signal.
 */
export type TruthLog = {
  /** @param id the request's x-request-id, or the server's own id */
  entry(id: string): TruthEntry;
  /** Writes out what is buffered. */
  flush(): void;
  close(): void;
};

const nothingNoted: TruthEntry = { note: () => {} };

/** The log of a server that keeps none. */
export const noTruthLog: TruthLog = { entry: () => nothingNoted, flush: () => {}, close: () => {} };

function duplexFields({ type, session, seq, response }: TruthDuplex): string {
  let fields = `,"type":${JSON.stringify(type)}`;
  if (session !== null) fields += `,"session":${JSON.stringify(session)}`;
  if (seq !== null) fields += `,"seq":${seq}`;
  if (response !== null) fields += `,"response":${JSON.stringify(response)}`;
  return fields;
}

function cutAt(file: number, bytes: number): void {
  try {
    ftruncateSync(file, bytes);
  } catch {
    // A device has no length.
  }
}

const flushChars = 64 * 1024;
const flushEveryMs = 250;

/**
 * A truth log in a file, which is emptied first. Where it can no longer be written, e.g. because the disk is full, it
 * ends with its last whole line and says so; the requests go on. Writes are synchronous: one of 64 KiB into the page
 * cache takes some 30 µs, and nothing can be lost between the buffer and the file when the process ends.
 * @throws InputFileError where the file cannot be written
 */
export function fileTruthLog(
  path: string,
  warn: (line: string) => void = (line) => console.error(line),
): TruthLog {
  let file: number | null;
  try {
    file = openSync(path, 'w');
  } catch (error) {
    throw new InputFileError(
      `--truth-log ${path} cannot be written: ${messageOf(error)}. Name a file in a folder that exists.`,
    );
  }
  const offsetMs = hostClockOffsetMs();
  let buffered = '';
  let size = 0;
  let broken = false;

  const flush = (): void => {
    if (file === null || buffered === '') return;
    const bytes = Buffer.from(buffered, 'utf8');
    buffered = '';
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(file, bytes, at);
      size += at;
    } catch (error) {
      broken = true;
      cutAt(file, size + bytes.subarray(0, at).lastIndexOf('\n') + 1);
      warn(
        `warning: --truth-log ${path} cannot be written any more (${messageOf(error)}): it lacks all that happened ` +
          'from now on. Free some space and start the server again for a whole one.',
      );
    }
  };
  const timer = setInterval(flush, flushEveryMs);
  timer.unref();
  process.on('exit', flush);

  return {
    entry(id) {
      const middle = `,"id":${JSON.stringify(id)},"event":"`;
      return {
        note(event, counts, bytes = counts?.bytes) {
          if (broken) return;
          const timeMs = Math.round(((counts?.atMs ?? nowMs()) + offsetMs) * 1000) / 1000;
          let line = `{"t":${timeMs}${middle}${event}"`;
          if (counts !== undefined) {
            if (counts.tokens !== undefined) line += `,"tokens":${counts.tokens}`;
          }
          if (bytes !== undefined) line += `,"bytes":${bytes}`;
          if (counts !== undefined) {
            if (counts.samples !== undefined) line += `,"samples":${counts.samples}`;
            if (counts.images !== undefined) line += `,"images":${counts.images}`;
            if (counts.frames !== undefined) line += `,"frames":${counts.frames}`;
            if (counts.duplex !== undefined) line += duplexFields(counts.duplex);
          }
          buffered += `${line}}\n`;
          if (buffered.length >= flushChars) flush();
        },
      };
    },
    flush,
    close() {
      flush();
      clearInterval(timer);
      process.off('exit', flush);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
