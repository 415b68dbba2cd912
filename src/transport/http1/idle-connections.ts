import type { Connection } from './connection.ts';

/** Open connections that carry no exchange, by origin. The one used last is taken first, so that the others age. */
export class IdleConnections {
  readonly #lists = new Map<string, Connection[]>();

  add(connection: Connection): void {
    let list = this.#lists.get(connection.originKey);
    if (list === undefined) {
      list = [];
      this.#lists.set(connection.originKey, list);
    }
    connection.idleIndex = list.length;
    list.push(connection);
    connection.setIdle(true);
  }

  /** A connection that should still be open; ones that are not are closed on the way. */
  take(originKey: string, timeMs: number): Connection | null {
    const list = this.#lists.get(originKey);
    for (let found = list?.pop(); found !== undefined; found = list?.pop()) {
      found.idleIndex = -1;
      if (found.isUsable(timeMs)) {
        found.setIdle(false);
        return found;
      }
      found.close();
    }
    return null;
  }

  /** Forgets a connection that was closed; the last one of its list takes its place. */
  remove(connection: Connection): void {
    const index = connection.idleIndex;
    if (index === -1) return;
    connection.idleIndex = -1;
    const list = this.#lists.get(connection.originKey);
    const last = list?.pop();
    if (list === undefined || last === undefined || last === connection) return;
    list[index] = last;
    last.idleIndex = index;
  }

  closeAll(): void {
    for (const list of this.#lists.values()) {
      for (const connection of list.splice(0)) {
        connection.idleIndex = -1;
        connection.close();
      }
    }
  }
}
