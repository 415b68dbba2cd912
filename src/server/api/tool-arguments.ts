import type { Random } from '../../foundation/random.ts';
import { isPlainObject, type PlainObject } from '../model/deep-merge.ts';
import { RequestError } from './request-error.ts';

/** Schemas may name themselves: what lies deeper is left out where it may be. */
const mostDepth = 6;
/** Most that the arguments of one call hold: values, and characters of their texts. */
const mostSize = 16_384;
const words = ['amber', 'basin', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor'];

const texts: Readonly<Record<string, string>> = {
  date: '2026-01-15',
  time: '12:00:00Z',
  'date-time': '2026-01-15T12:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

type Draw = {
  /** The whole schema, in which references are looked up. */
  readonly root: PlainObject;
  readonly random: Random;
  /** @throws RequestError 400 once more than {@link mostSize} has been taken */
  take(size: number): void;
};

function drawFor(root: PlainObject, random: Random): Draw {
  let left = mostSize;
  return {
    root,
    random,
    take(size) {
      left -= size;
      if (left >= 0) return;
      throw new RequestError(
        400,
        `tools: the parameters of the function ask for arguments of more than ${mostSize} values and characters. ` +
          'Lower minItems, minLength or the number of properties.',
        'tools',
      );
    },
  };
}

function numberAt(schema: PlainObject, key: string): number | null {
  const value = schema[key];
  return typeof value === 'number' ? value : null;
}

/** What a `$ref` inside the schema names. */
function resolved(schema: PlainObject, root: PlainObject): PlainObject {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/'))
    found = isPlainObject(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return isPlainObject(found) ? found : schema;
}

function textOf(schema: PlainObject, { random, take }: Draw): string {
  const known = typeof schema.format === 'string' ? texts[schema.format] : undefined;
  if (known !== undefined) return known;
  take(numberAt(schema, 'minLength') ?? 0);
  let text = words[random.integer(0, words.length - 1)] ?? '';
  while (text.length < (numberAt(schema, 'minLength') ?? 0)) text += ` ${words[text.length % words.length]}`;
  return text.slice(0, numberAt(schema, 'maxLength') ?? text.length);
}

function numberOf(schema: PlainObject, random: Random, isWhole: boolean): number {
  const step = numberAt(schema, 'multipleOf') ?? (isWhole ? 1 : 0.5);
  const above = numberAt(schema, 'exclusiveMinimum');
  const below = numberAt(schema, 'exclusiveMaximum');
  const low = numberAt(schema, 'minimum') ?? (above === null ? null : above + step);
  const high = numberAt(schema, 'maximum') ?? (below === null ? null : below - step);
  const from = low ?? (high === null ? 0 : Math.min(0, high));
  const steps = Math.min(20, Math.max(0, Math.floor(((high ?? from + 20 * step) - from) / step)));
  // From a multiple of the step on, where that is asked for.
  const start = numberAt(schema, 'multipleOf') === null ? from : Math.ceil(from / step) * step;
  const value = start + step * random.integer(0, steps);
  return high !== null && value > high ? start : value;
}

function objectOf(schema: PlainObject, draw: Draw, depth: number): PlainObject {
  const properties = isPlainObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(properties).filter((name) => depth < mostDepth || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, fittingValue(properties[name], draw, depth + 1)]));
}

function fittingValue(given: unknown, draw: Draw, depth: number): unknown {
  const { random } = draw;
  draw.take(1);
  if (!isPlainObject(given) || depth > 2 * mostDepth) return null;
  const schema = resolved(given, draw.root);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[random.integer(0, Math.max(0, schema.enum.length - 1))];
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema[key];
    if (Array.isArray(options) && options.length > 0) return fittingValue(options[0], draw, depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return textOf(schema, draw);
    case 'integer':
      return numberOf(schema, random, true);
    case 'number':
      return numberOf(schema, random, false);
    case 'boolean':
      return random.integer(0, 1) === 1;
    case 'array': {
      const most = depth < mostDepth ? Math.min(2, numberAt(schema, 'maxItems') ?? 2) : 0;
      const length = Math.max(Math.ceil(numberAt(schema, 'minItems') ?? 0), most);
      draw.take(length);
      return Array.from({ length }, () => fittingValue(schema.items ?? {}, draw, depth + 1));
    }
    case 'null':
      return null;
    default:
      return type === 'object' || isPlainObject(schema.properties)
        ? objectOf(schema, draw, depth)
        : textOf(schema, draw);
  }
}

/**
 * Arguments of a call that fit a function's parameters: every property of the JSON schema, with values of its types,
 * ranges and choices. Equal seeds give equal arguments.
 * @throws RequestError 400 for a schema whose arguments would be too large
 */
export function toolArguments(parameters: unknown, random: Random): PlainObject {
  const schema = isPlainObject(parameters) ? parameters : {};
  const value = fittingValue({ type: 'object', ...schema }, drawFor(schema, random), 0);
  return isPlainObject(value) ? value : {};
}
