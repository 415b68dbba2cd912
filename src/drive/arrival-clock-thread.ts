import { parentPort, workerData } from 'node:worker_threads';
import { runBlockingClock } from './due-clock.ts';
import type { ArrivalClockConfig, ToLoadThread } from './messages.ts';
import { SharedControl } from './shared-control.ts';

/**
 * A thread that does nothing but say when requests are due: it blocks in a futex until just before each due time and
 * spins the rest, so that arrivals hold to the schedule while the load threads' event loops stay free.
 * Load threads' ports come with the first message.
 */
const { control: memory, dueMs, start } = workerData as ArrivalClockConfig;
const control = new SharedControl(memory);
const startCell = new Float64Array(start);

parentPort?.once('message', ({ ports }: { ports: import('node:worker_threads').MessagePort[] }) => {
  parentPort?.postMessage('ready');
  while (Number.isNaN(startCell[0]) && !control.stopped) control.sleep(0.2);
  const wake: ToLoadThread = { type: 'wake' };
  let turn = 0;
  runBlockingClock(control, dueMs, startCell[0] as number, (count) => {
    for (let i = 0; i < Math.min(count, ports.length); i += 1) {
      ports[turn % ports.length]?.postMessage(wake);
      turn += 1;
    }
  });
  for (const port of ports) port.close();
});
