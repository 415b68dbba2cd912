/** Says when each request is due. Pure: no clock, no timers; randomness comes from the given seed. */
export type Pacer = {
  /** Due time of request `index` in ms after the run's start; `null` once the load is over. */
  dueAtMs(index: number): number | null;
};
