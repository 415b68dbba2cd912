import { asArray, asObject, asText, type JsonObject } from '../json-values.ts';
import { SessionFault } from './session-fault.ts';

/** Frames ride on appends, or are items of the conversation of their own. */
export type FrameTransport = 'append' | 'image_items';

/** Items that may live at once. */
const liveItems = 8;
/** Largest frame that an item may hold, bytes: what the server keeps of items, shared by the live ones and the next. */
export const itemFrameBytes = Math.floor(((4 * 1024 * 1024) / (liveItems + 1)) * 0.75);

/**
 * How a session takes pictures, from what it says it can do.
 * @throws SessionFault where it takes none
 */
export function frameTransport(capabilities: JsonObject | null): FrameTransport {
  const required = capabilities?.required_input_modalities ?? null;
  const optional = capabilities?.optional_input_modalities ?? null;
  if (required === null && optional === null) return 'append';
  const accepted = [...modalities(required), ...modalities(optional)];
  if (accepted.includes('video')) return 'append';
  if (capabilities?.supports_image_input) return 'image_items';
  throw new SessionFault(
    'unsendable',
    'The duplex session accepts neither video_frames on appends nor input_image items',
    JSON.stringify(capabilities).slice(0, 1024),
  );
}

function modalities(value: unknown): unknown[] {
  return typeof value === 'string' ? [value] : [...asArray(value)];
}

/** Length of the model's unit, ms; 1000 where the session does not say. */
export function chunkPeriodMs(session: JsonObject | null): number {
  const period = asObject(session?.capabilities)?.chunk_period_ms;
  return typeof period === 'number' && Number.isInteger(period) && period > 0 ? period : 1000;
}

/** Makes the events that put frames into the conversation, so that only the latest few stay in it. */
export class FrameItems {
  readonly #live: string[] = [];
  #next = 0;

  /** Events to send before the append, in order. */
  *eventsFor(jpegBase64: string): Generator<JsonObject> {
    const oldest = this.#live.length >= liveItems ? this.#live.shift() : undefined;
    if (oldest !== undefined) yield { type: 'conversation.item.delete', item_id: oldest };
    const id = `omniinteract_frame_${this.#next}`;
    this.#next += 1;
    this.#live.push(id);
    yield {
      type: 'conversation.item.create',
      item: {
        id,
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image_url: `data:image/jpeg;base64,${jpegBase64}` }],
      },
    };
  }
}

/**
 * Frames that fit into items; larger ones are drawn anew with at most 640 px a side.
 * @throws SessionFault for a frame that is no picture
 */
export async function fittedFrames(
  frames: readonly (Uint8Array | null)[],
): Promise<readonly (Uint8Array | null)[]> {
  if (frames.every((frame) => frame === null || frame.byteLength <= itemFrameBytes)) return frames;
  // Hardly any frame is that large, and the library takes long to load.
  const { default: sharp } = await import('sharp');
  return Promise.all(
    frames.map(async (frame) => {
      if (frame === null || frame.byteLength <= itemFrameBytes) return frame;
      try {
        return await sharp(Buffer.from(frame))
          .resize(640, 640, { fit: 'inside', withoutEnlargement: true })
          .jpeg({ quality: 85 })
          .toBuffer();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new SessionFault('unsendable', `a frame of the sample is no picture: ${reason}`);
      }
    }),
  );
}

/** A text field of a session object. */
export function sessionIdOf(session: JsonObject | null): string | null {
  return asText(session?.id);
}
