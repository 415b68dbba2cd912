/** The longest that Node's timers wait, ms: one that is set for longer fires at once. */
export const longestTimerMs = 2 ** 31 - 1;
