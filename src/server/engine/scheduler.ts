import { longestTimerMs } from '../../foundation/longest-timer.ts';
import { type ScheduledTask, TaskHeap } from './task-heap.ts';

/**
 * Runs tasks at absolute times of one clock. Engines know time only through it, so that a test can replace it by
 * a clock that jumps.
 */
export type Scheduler = {
  nowMs(): number;
  /** Runs `task` at its `dueMs`, or at the next turn where that has passed; never before, never at once. */
  add(task: ScheduledTask): void;
  remove(task: ScheduledTask): void;
  /** Forgets all tasks. */
  close(): void;
};

/**
 * How long a turn may last, ms. Node takes one new connection per turn of the event loop, so that with long turns a
 * server which is busy leaves a thousand connections unanswered until it is idle again.
 */
const turnMs = 0.25;

/**
 * Waking up, and waking those who read, costs a busy server more than its tasks. So it rests for two milliseconds
 * instead of one where more tasks than this come due in a millisecond, or where nobody sees when most of the last ones
 * ran.
 */
const busyTasksPerMs = 18;
const unseenTasks = 4;
const unseenShare = 4;
const restMs = 2;
/** Over so long the rate is taken, ms. */
const rateWindowMs = 25;

/**
 * A scheduler on the event loop's timers: one timer for any number of tasks; what is due runs in turns between which
 * sockets are served.
 * @param nowMs the clock, in step with that of the event loop's timers
 * @param onTaskError told of a task that threw, which is a bug; the other tasks go on
 */
export function timerScheduler(nowMs: () => number, onTaskError: (error: unknown) => void): Scheduler {
  const heap = new TaskHeap();
  let timer: NodeJS.Timeout | null = null;
  let immediate: NodeJS.Immediate | null = null;
  let armedForMs = Number.POSITIVE_INFINITY;
  const rest = restRule();

  const disarm = (): void => {
    if (timer !== null) clearTimeout(timer);
    if (immediate !== null) clearImmediate(immediate);
    timer = null;
    immediate = null;
    armedForMs = Number.POSITIVE_INFINITY;
  };
  const arm = (): void => {
    const next = heap.peek();
    if (next === null || next.dueMs >= armedForMs) return;
    disarm();
    armedForMs = next.dueMs;
    const delayMs = next.dueMs - nowMs();
    // A timer counts whole ms, so up to 1 ms of lateness is the price of not spinning.
    if (delayMs <= 0) immediate = setImmediate(turn);
    else timer = setTimeout(turn, Math.min(Math.max(rest.leastMs(), Math.ceil(delayMs)), longestTimerMs));
  };
  const turn = (): void => {
    disarm();
    // Tasks that come due during the turn wait for the next one.
    const untilMs = nowMs();
    rest.turn(untilMs);
    // Holds back `add`, which would arm a timer per task.
    armedForMs = Number.NEGATIVE_INFINITY;
    for (let task = heap.peek(); task !== null && task.dueMs <= untilMs; task = heap.peek()) {
      heap.remove(task);
      rest.ran(task);
      try {
        task.run(nowMs());
      } catch (error) {
        onTaskError(error);
      }
      if (nowMs() >= untilMs + turnMs) break;
    }
    armedForMs = Number.POSITIVE_INFINITY;
    arm();
  };

  return {
    nowMs,
    add(task) {
      heap.add(task);
      arm();
    },
    remove: (task) => heap.remove(task),
    close() {
      disarm();
      for (let task = heap.peek(); task !== null; task = heap.peek()) heap.remove(task);
    },
  };
}

/** Decides how long the event loop is left alone, by what ran last. */
function restRule() {
  let seen = 0;
  let unseen = 0;
  let windowFromMs = Number.NEGATIVE_INFINITY;
  let windowTasks = 0;
  let tasksPerMs = 0;
  return {
    turn(timeMs: number): void {
      const elapsedMs = timeMs - windowFromMs;
      if (elapsedMs < rateWindowMs) return;
      tasksPerMs = windowTasks / elapsedMs;
      windowFromMs = timeMs;
      windowTasks = 0;
    },
    ran(task: ScheduledTask): void {
      windowTasks += 1;
      if (task.unseen) unseen += 1;
      else seen += 1;
    },
    /** Asked once all that was due has run. */
    leastMs(): number {
      const rests = tasksPerMs > busyTasksPerMs || (unseen >= unseenTasks && unseen >= unseenShare * seen);
      seen = 0;
      unseen = 0;
      return rests ? restMs : 1;
    },
  };
}
