import { describe, expect, test } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { corruptBase64 } from './corrupt-base64.ts';
import { faultPlan, noFaults } from './fault-plan.ts';
import { faultExamples, parseFault } from './fault-script.ts';

describe('a script', () => {
  test.each([
    ['slow-headers:500', { kind: 'slow-headers', ms: 500 }],
    ['stall', { kind: 'stall', afterEvents: 0, ms: null }],
    ['stall:3', { kind: 'stall', afterEvents: 3, ms: null }],
    ['stall:3:250', { kind: 'stall', afterEvents: 3, ms: 250 }],
    ['reset', { kind: 'reset', afterEvents: 0 }],
    ['reset:5', { kind: 'reset', afterEvents: 5 }],
    ['error-event:2', { kind: 'error-event', afterEvents: 2 }],
    ['bad-base64', { kind: 'bad-base64' }],
    ['wrong-rate', { kind: 'wrong-rate', sampleRateHz: 16000 }],
    ['wrong-rate:8000', { kind: 'wrong-rate', sampleRateHz: 8000 }],
    ['empty', { kind: 'empty' }],
    ['429', { kind: 'status', status: 429, retryAfterS: 1 }],
    ['429:7', { kind: 'status', status: 429, retryAfterS: 7 }],
    ['500', { kind: 'status', status: 500, retryAfterS: null }],
    ['503', { kind: 'status', status: 503, retryAfterS: null }],
    ['dead-replica:1', { kind: 'dead-replica', stageId: 1, backAfterMs: null }],
    ['dead-replica:1:250', { kind: 'dead-replica', stageId: 1, backAfterMs: 250 }],
    ['slow-stage:0:4', { kind: 'slow-stage', stageId: 0, factor: 4 }],
  ])('reads %s', (script, fault) => {
    expect(parseFault(script)).toEqual({
      fault,
      selector: { rate: null, requests: null, modelSuffix: null },
    });
  });

  test('says for whom', () => {
    expect(parseFault('reset:5@rate=0.1,request=3-7,model=-bad').selector).toEqual({
      rate: 0.1,
      requests: [3, 7],
      modelSuffix: '-bad',
    });
    expect(parseFault('500@request=4').selector.requests).toEqual([4, 4]);
  });

  test.each([
    ['', /no fault ""/],
    ['stal', /Did you mean stall/],
    ['reset:x', /expected reset\[:EVENTS\]/],
    ['slow-headers', /expected slow-headers:MS/],
    ['slow-headers:2147483648', /expected slow-headers:MS/],
    ['stall:3:1e12', /expected stall/],
    ['dead-replica:1:1e300', /expected dead-replica/],
    ['slow-stage:0', /expected slow-stage:STAGE:FACTOR/],
    ['reset@rate=2', /"rate=2" is no condition/],
    ['reset@request=5-2', /"request=5-2" is no condition/],
    ['reset@when=now', /"when=now" is no condition/],
    ['empty:3', /expected empty/],
  ])('refuses %j', (script, message) => {
    expect(() => parseFault(script)).toThrow(UsageError);
    expect(() => parseFault(script)).toThrow(message);
  });

  test('has an example of each kind that names it', () => {
    for (const example of faultExamples) {
      const [name = ''] = example.split(/[[:]/);
      expect(() => parseFault(`${name}:?`)).toThrow(`expected ${example}`);
    }
  });
});

describe('a plan', () => {
  const kinds = (script: string[], models: (string | null)[], seed = 0): (string | null)[] => {
    const plan = faultPlan(script.map(parseFault), seed);
    return models.map((model) => plan.next(model)?.kind ?? null);
  };

  test('befalls the requests that it names', () => {
    expect(kinds(['reset@request=1-2'], [null, null, null, null])).toEqual([null, 'reset', 'reset', null]);
    expect(kinds(['stall@model=-slow'], ['m', 'm-slow', null])).toEqual([null, 'stall', null]);
  });

  test('takes the first that applies', () => {
    expect(kinds(['500@request=0', 'empty'], [null, null])).toEqual(['status', 'empty']);
  });

  test('befalls the share that it is given, the same each time', () => {
    const many = new Array<null>(4000).fill(null);
    const drawn = kinds(['reset@rate=0.1'], many, 7);
    const share = drawn.filter((kind) => kind !== null).length / many.length;
    // Three standard deviations of a share of 0.1 in 4,000 are 0.014.
    expect(share).toBeGreaterThan(0.086);
    expect(share).toBeLessThan(0.114);
    expect(kinds(['reset@rate=0.1'], many, 7)).toEqual(drawn);
    expect(kinds(['reset@rate=0.1'], many, 8)).not.toEqual(drawn);
    expect(kinds(['reset@rate=0'], many)).toEqual(many);
  });

  test('knows the model behind its suffix', () => {
    const plan = faultPlan([parseFault('stall@model=-slow')], 0);
    expect(plan.bareModel('a/b-slow')).toBe('a/b');
    expect(plan.bareModel('a/b')).toBe('a/b');
    expect(noFaults.next('x')).toBeNull();
  });
});

test('base64 is made unreadable where it is', () => {
  const base64 = Buffer.alloc(100, 7).toString('base64');
  const whole = `{"id":"chatcmpl-1","content":"${base64}"}`;
  const broken = corruptBase64(whole);
  expect(broken).toHaveLength(whole.length);
  const content: string = JSON.parse(broken).content;
  expect(content).not.toMatch(/^[A-Za-z0-9+/=]*$/);
  expect(corruptBase64('{"text":"short words only"}')).toBe('{"text":"short words only"}');
});
