import { expect, it } from 'vitest';
import { Interrupts } from './interrupts.ts';

function pressed() {
  let press = (): void => {};
  const interrupts = new Interrupts({
    onInterrupt: (handler) => {
      press = handler;
    },
  });
  return { interrupts, press: () => press() };
}

const never = () => new Promise<string>(() => {});

it('work is left at a further Ctrl-C, and only then', async () => {
  const { interrupts, press } = pressed();
  press();
  expect(await interrupts.race(Promise.resolve('done'))).toBe('done');
  const left = interrupts.race(never());
  press();
  expect(await left).toBeNull();
});

it('work that begins later is not begun after a Ctrl-C since', async () => {
  const { interrupts, press } = pressed();
  press();
  const unlessLeft = interrupts.leaver();
  expect(await unlessLeft(async () => 'done')).toBe('done');
  const left = unlessLeft(never);
  press();
  expect(await left).toBeNull();
  let begun = false;
  const later = await unlessLeft(async () => {
    begun = true;
  });
  expect([later, begun]).toEqual([null, false]);
});
