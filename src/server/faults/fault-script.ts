import { UsageError } from '../../foundation/errors.ts';
import { longestTimerMs } from '../../foundation/longest-timer.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { RequestFault } from './request-fault.ts';

/** Which requests a fault befalls: those for which all of its conditions hold. */
export type FaultSelector = {
  /** Share of the requests; `null` = all. */
  readonly rate: number | null;
  /** First and last by arrival, from 0; `null` = all. */
  readonly requests: readonly [first: number, last: number] | null;
  /** What the request's model ends with, beyond the served name; `null` = any. */
  readonly modelSuffix: string | null;
};

/** One fault and whom it befalls. */
export type ScriptedFault = { readonly fault: RequestFault; readonly selector: FaultSelector };

/** How a fault's text is read, and shown in help. */
type FaultForm = { readonly example: string; read(argument: string): RequestFault | null };

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function positive(text: string): number | null {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) && value > 0 ? value : null;
}

function milliseconds(text: string): number | null {
  const value = positive(text);
  return value === null || value > longestTimerMs ? null : value;
}

function afterEvents(kind: 'reset' | 'error-event'): FaultForm {
  return {
    example: `${kind}[:EVENTS]`,
    read: (argument) => {
      const events = argument === '' ? 0 : wholeNumber(argument);
      return events === null ? null : { kind, afterEvents: events };
    },
  };
}

const forms: Readonly<Record<string, FaultForm>> = {
  'slow-headers': {
    example: 'slow-headers:MS',
    read: (argument) => {
      const ms = milliseconds(argument);
      return ms === null ? null : { kind: 'slow-headers', ms };
    },
  },
  stall: {
    example: 'stall[:EVENTS[:MS]]',
    read: (argument) => {
      const [events = '', ms = ''] = argument.split(':');
      const after = events === '' ? 0 : wholeNumber(events);
      const time = ms === '' ? null : milliseconds(ms);
      if (after === null || (ms !== '' && time === null)) return null;
      return { kind: 'stall', afterEvents: after, ms: time };
    },
  },
  reset: afterEvents('reset'),
  'error-event': afterEvents('error-event'),
  'bad-base64': {
    example: 'bad-base64',
    read: (argument) => (argument === '' ? { kind: 'bad-base64' } : null),
  },
  'wrong-rate': {
    example: 'wrong-rate[:HZ]',
    read: (argument) => {
      const rate = argument === '' ? 16000 : wholeNumber(argument);
      return rate === null || rate === 0 ? null : { kind: 'wrong-rate', sampleRateHz: rate };
    },
  },
  empty: { example: 'empty', read: (argument) => (argument === '' ? { kind: 'empty' } : null) },
  '429': {
    example: '429[:RETRY_AFTER_S]',
    read: (argument) => {
      const seconds = argument === '' ? 1 : wholeNumber(argument);
      return seconds === null ? null : { kind: 'status', status: 429, retryAfterS: seconds };
    },
  },
  '500': {
    example: '500',
    read: (argument) => (argument === '' ? { kind: 'status', status: 500, retryAfterS: null } : null),
  },
  '503': {
    example: '503',
    read: (argument) => (argument === '' ? { kind: 'status', status: 503, retryAfterS: null } : null),
  },
  'dead-replica': {
    example: 'dead-replica:STAGE[:BACK_MS]',
    read: (argument) => {
      const [stage = '', back = ''] = argument.split(':');
      const stageId = wholeNumber(stage);
      const backAfterMs = back === '' ? null : milliseconds(back);
      if (stageId === null || (back !== '' && backAfterMs === null)) return null;
      return { kind: 'dead-replica', stageId, backAfterMs };
    },
  },
  'slow-stage': {
    example: 'slow-stage:STAGE:FACTOR',
    read: (argument) => {
      const [stage = '', times = ''] = argument.split(':');
      const stageId = wholeNumber(stage);
      const factor = positive(times);
      return stageId === null || factor === null ? null : { kind: 'slow-stage', stageId, factor };
    },
  },
};

/** How every kind of fault is written. */
export const faultExamples: readonly string[] = Object.values(forms).map(({ example }) => example);

function readSelector(text: string, script: string): FaultSelector {
  let rate: number | null = null;
  let requests: readonly [number, number] | null = null;
  let modelSuffix: string | null = null;
  for (const condition of text.split(',').filter((part) => part !== '')) {
    const at = condition.indexOf('=');
    const name = at < 0 ? condition : condition.slice(0, at);
    const value = at < 0 ? '' : condition.slice(at + 1);
    const range = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(value);
    if (name === 'rate' && Number(value) >= 0 && Number(value) <= 1 && value !== '') rate = Number(value);
    else if (name === 'request' && range !== null && Number(range[1]) <= Number(range[2] ?? range[1]))
      requests = [Number(range[1]), Number(range[2] ?? range[1])];
    else if (name === 'model' && value !== '') modelSuffix = value;
    else
      throw new UsageError(
        `--fault ${script}: "${condition}" is no condition. Expected rate=0.1 (0 to 1), request=3 or request=3-7 ` +
          '(by arrival, from 0), or model=SUFFIX.',
      );
  }
  return { rate, requests, modelSuffix };
}

/**
 * Reads one `--fault`: what goes wrong, and after an `@` for whom, e.g. `reset:5@rate=0.1`.
 * @throws UsageError
 */
export function parseFault(script: string): ScriptedFault {
  const at = script.indexOf('@');
  const what = at < 0 ? script : script.slice(0, at);
  const [name = '', ...rest] = what.split(':');
  const form = forms[name];
  if (form === undefined) {
    const nearest = nearestName(name, Object.keys(forms));
    throw new UsageError(
      `--fault ${script}: there is no fault "${name}".${nearest === null ? '' : ` Did you mean ${nearest}?`} ` +
        `Known: ${faultExamples.join(', ')}.`,
    );
  }
  const fault = form.read(rest.join(':'));
  if (fault === null) throw new UsageError(`--fault ${script}: expected ${form.example}.`);
  return { fault, selector: readSelector(at < 0 ? '' : script.slice(at + 1), script) };
}
