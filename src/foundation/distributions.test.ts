import { describe, expect, it } from 'vitest';
import { normalQuantile, normalUpperTail } from './normal-distribution.ts';
import { studentUpperQuantile, studentUpperTail } from './student-t.ts';

/** Expected values from scipy 1.17: `norm.ppf`, `norm.sf`, `t.isf`. */
describe('normal distribution', () => {
  it.each([
    [1e-12, -7.034483825301131],
    [0.001, -3.090232306167813],
    [0.025, -1.9599639845400545],
    [0.3, -0.5244005127080409],
    [0.5, 0],
    [0.9, 1.2815515655446004],
    [0.999999, 4.753424308817087],
  ])('quantile of %f', (p, expected) => {
    expect(Math.abs(normalQuantile(p) - expected)).toBeLessThan(1e-11);
  });

  it.each([
    [0, 0.5],
    [0.5, 0.3085375387259869],
    [1.96, 0.024997895148220435],
    [2.5, 0.006209665325776132],
    [3.3, 0.00048342414238377744],
    [8, 6.22096057427174e-16],
  ])('tail above %f', (z, expected) => {
    expect(Math.abs(normalUpperTail(z) / expected - 1)).toBeLessThan(1e-12);
  });

  it('has infinite ends and a tail on both sides', () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(normalUpperTail(-1.96)).toBeCloseTo(0.9750021, 7);
  });
});

describe("Student's t", () => {
  it.each([
    [0.025, 1, 12.706204736174705],
    [0.025, 4, 2.7764451051977943],
    [0.0005, 2, 31.59905457644362],
    [0.01, 7.5, 2.9430993234067215],
    [0.4, 30, 0.2556053649519128],
    [1e-6, 3, 103.29946778041935],
    [0.025, 1000, 1.9623390808264085],
  ])('upper quantile of %f with %f degrees of freedom', (upper, df, expected) => {
    const found = studentUpperQuantile(upper, df);
    expect(Math.abs(found / expected - 1)).toBeLessThan(1e-9);
    expect(Math.abs(studentUpperTail(found, df) / upper - 1)).toBeLessThan(1e-9);
  });

  it('is the normal distribution with infinite freedom', () => {
    expect(studentUpperQuantile(0.025, Number.POSITIVE_INFINITY)).toBeCloseTo(1.959963984540054, 12);
  });
});
