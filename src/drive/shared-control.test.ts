import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { dueCountAt } from './due-clock.ts';
import { SharedControl } from './shared-control.ts';

describe('tickets and slots', () => {
  it('gives tickets in order, up to the cap, and the next one when a slot is released', () => {
    const control = SharedControl.create(2);
    control.raiseDue(3);
    expect([control.claim(), control.claim(), control.claim()]).toEqual([0, 1, -1]);
    control.releaseSlot();
    expect([control.claim(), control.claim()]).toEqual([2, -1]);
    expect(control.maxInFlight).toBe(2);
  });

  it('gives nothing before it is due', () => {
    const control = SharedControl.create(null);
    expect(control.claim()).toBe(-1);
    control.raiseDue(1);
    control.raiseDue(0);
    expect([control.claim(), control.claim()]).toEqual([0, -1]);
    expect(control.inFlight).toBe(1);
  });

  it('gives nothing after the stop, and remembers exactly what was taken', () => {
    const control = SharedControl.create(null);
    control.raiseDue(5);
    control.claim();
    control.claim();
    control.stop();
    control.stop();
    expect(control.claim()).toBe(-1);
    expect(control.taken).toBe(2);
  });

  property([
    fc.integer({ min: 1, max: 5 }),
    fc.array(fc.constantFrom('claim', 'release', 'due'), { maxLength: 200 }),
  ])('never exceeds the cap or the due count, whatever the order', (cap, steps) => {
    const control = SharedControl.create(cap);
    let due = 0;
    let open = 0;
    let next = 0;
    for (const step of steps) {
      if (step === 'due') control.raiseDue(++due);
      else if (step === 'release' && open > 0) {
        control.releaseSlot();
        open -= 1;
      } else if (step === 'claim') {
        const ticket = control.claim();
        const expected = open < cap && next < due ? next : -1;
        expect(ticket).toBe(expected);
        if (ticket >= 0) {
          next += 1;
          open += 1;
        }
      }
      expect(control.inFlight).toBe(open);
    }
  });

  it('gives each ticket once when four threads fight for them', async () => {
    const control = SharedControl.create(3);
    control.raiseDue(20_000);
    const code = `
      const { workerData, parentPort } = require('node:worker_threads');
      import(workerData.module).then(({ SharedControl }) => {
        const control = new SharedControl(workerData.memory);
        const mine = [];
        while (control.taken < 20000) { const t = control.claim(); if (t >= 0) { mine.push(t); control.releaseSlot(); } }
        parentPort.postMessage(mine);
      });`;
    // A thread can't load TypeScript on Node 20: the class is self-contained, so its source without types will do.
    const module = await typeStrippedUrl('./shared-control.ts');
    const threads = [1, 2, 3, 4].map(
      () => new Worker(code, { eval: true, workerData: { memory: control.memory, module } }),
    );
    const taken = await Promise.all(
      threads.map(
        (thread) =>
          new Promise<number[]>((resolve, reject) => thread.once('message', resolve).once('error', reject)),
      ),
    );
    const all = taken.flat().sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 20_000 }, (_, i) => i));
    expect(control.maxInFlight).toBeLessThanOrEqual(3);
    expect(control.inFlight).toBe(0);
    for (const mine of taken) expect(mine).toEqual([...mine].sort((a, b) => a - b));
  });
});

async function typeStrippedUrl(path: string): Promise<string> {
  const { readFileSync } = await import('node:fs');
  const { default: ts } = await import('typescript');
  const source = readFileSync(new URL(path, import.meta.url), 'utf8');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
  });
  return `data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`;
}

describe('dueCountAt', () => {
  it('counts what is due, also several at one time', () => {
    const due = Float64Array.of(1, 2, 2, 5);
    expect([0, 1, 2, 4.9, 5].map((at) => dueCountAt(due, at, 0))).toEqual([0, 1, 3, 3, 4]);
  });
});
