import { asObject, asText, type JsonObject } from '../json-values.ts';
import { SessionFault } from './session-fault.ts';

/** A response's id, wherever the event carries it. */
export function responseIdOf(event: JsonObject): string | null {
  return asText(event.response_id) || asText(asObject(event.response)?.id) || null;
}

/** Whether an event says so of its response, in any of the places where servers put it. */
function says(event: JsonObject, word: string): boolean {
  const response = asObject(event.response);
  return [
    event.status,
    response?.status,
    asObject(event.status_details)?.type,
    asObject(response?.status_details)?.type,
  ].includes(word);
}

/** Keeps the books of responses: each is created once and done once. */
export class ResponseLedger {
  readonly #created = new Map<string, number>();
  readonly #done = new Map<string, { readonly cancelled: boolean }>();

  /** Ids in order of creation. */
  get created(): readonly string[] {
    return [...this.#created.keys()];
  }

  get createdCount(): number {
    return this.#created.size;
  }

  get anyCancelled(): boolean {
    return [...this.#done.values()].some(({ cancelled }) => cancelled);
  }

  get hasUnfinished(): boolean {
    return this.#done.size < this.#created.size;
  }

  /** Created and not done. */
  unfinished(): string[] {
    return this.created.filter((id) => !this.#done.has(id));
  }

  /** Position by creation, or `null`. */
  indexOf(responseId: string | null): number | null {
    return responseId === null ? null : (this.#created.get(responseId) ?? null);
  }

  isDone(responseId: string): boolean {
    return this.#done.has(responseId);
  }

  isCancelled(responseId: string): boolean {
    return this.#done.get(responseId)?.cancelled === true;
  }

  /** @throws SessionFault when the event does not go with what came before */
  enter(event: JsonObject): void {
    const { type } = event;
    if (type !== 'response.created' && type !== 'response.done') return;
    const id = responseIdOf(event);
    if (id === null) throw new SessionFault('malformed', `${type} has no response_id`);
    if (type === 'response.created') {
      if (this.#created.has(id)) throw new SessionFault('malformed', `duplicate response.created for ${id}`);
      this.#created.set(id, this.#created.size);
      return;
    }
    if (!this.#created.has(id))
      throw new SessionFault('malformed', `response.done without response.created for ${id}`);
    if (this.#done.has(id)) throw new SessionFault('malformed', `duplicate response.done for ${id}`);
    if (says(event, 'failed'))
      throw new SessionFault(
        'stream_error',
        `response.done reports failure for ${id}`,
        JSON.stringify(event).slice(0, 16 * 1024),
      );
    this.#done.set(id, { cancelled: says(event, 'cancelled') });
  }
}
