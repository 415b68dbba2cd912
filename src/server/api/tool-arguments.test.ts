import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { randomStream } from '../../foundation/random.ts';
import { toolArguments } from './tool-arguments.ts';

const weather = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 12, maxLength: 14 },
    unit: { enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 3, maximum: 5 },
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    step: { type: 'integer', minimum: 1, multipleOf: 5, maximum: 12 },
    below: { type: 'integer', maximum: -3 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 3 },
    place: {
      type: 'object',
      properties: { lat: { type: 'number' }, exact: { type: 'boolean' } },
      required: ['lat'],
      additionalProperties: false,
    },
    either: { anyOf: [{ type: 'null' }, { type: 'string' }] },
    kind: { const: 'forecast' },
  },
  required: ['city', 'unit', 'days'],
  additionalProperties: false,
} as const;

describe('arguments of a call', () => {
  test.each(Array.from({ length: 30 }, (_, seed) => seed))(
    'fit their schema, as zod reads it: seed %d',
    (seed) => {
      const value = toolArguments(weather, randomStream(seed, 'test'));
      expect(z.fromJSONSchema(JSON.parse(JSON.stringify(weather))).safeParse(value).error).toBeUndefined();
      expect(Object.keys(value)).toEqual(Object.keys(weather.properties));
    },
  );

  test('are the same for the same seed, and others for another', () => {
    const drawn = Array.from({ length: 8 }, (_, seed) =>
      JSON.stringify(toolArguments(weather, randomStream(seed, 'test'))),
    );
    expect(new Set(drawn).size).toBeGreaterThan(4);
    expect(JSON.stringify(toolArguments(weather, randomStream(3, 'test')))).toBe(drawn[3]);
  });

  test('end where a schema names itself', () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
      required: ['name'],
    };
    const value = toolArguments({ $ref: '#/$defs/node', $defs: { node } }, randomStream(0, 'test'));
    expect(JSON.stringify(value).length).toBeLessThan(1000);
    expect(value).toMatchObject({ name: expect.any(String), next: { name: expect.any(String) } });
  });

  const recursive = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 12 }, (_, at) => [`p${at}`, { $ref: '#/$defs/node' }]),
        ),
      },
    },
  };
  test.each([
    ['a long text', { properties: { text: { type: 'string', minLength: 6e8 } }, required: ['text'] }],
    ['a text without end', { properties: { text: { type: 'string', minLength: Number.MAX_VALUE } } }],
    ['a long list', { properties: { list: { type: 'array', minItems: 6e8 } } }],
    [
      'lists in lists',
      { properties: { a: { type: 'array', minItems: 1000, items: { type: 'array', minItems: 1000 } } } },
    ],
    ['a tree', recursive],
  ])('are refused where they would be too large: %s', (_what, schema) => {
    expect(() => toolArguments(schema, randomStream(0, 'test'))).toThrow(
      /^tools: the parameters of the function ask for arguments of more than 16384/,
    );
  });

  test.each([[undefined], [{}], [{ type: 'string' }], ['nonsense'], [null]])(
    'of %j are an object',
    (schema) => {
      expect(toolArguments(schema, randomStream(0, 'test'))).toEqual({});
    },
  );
});
