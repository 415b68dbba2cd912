import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { Flag, FlagValue, JsonObject, Pairs } from './flag.ts';

/** Single quotes as the reference prints a wrong value. */
function quoted(text: string): string {
  return `'${text}'`;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null` = not a number as the reference's parser reads one; `inf` and `infinity` are numbers. */
export function parseNumber(text: string): number | null {
  const trimmed = text.trim();
  const infinite = /^([+-]?)inf(inity)?$/i.exec(trimmed);
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : null;
}

/** Text as JSON, or as it stands where it is none: `0.3` is a number, `wav` is a string. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A leading `~/` is the home directory: shells do not expand it after `=`, nor do configuration files. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path;
}

function parseRange(flag: Flag & { kind: 'int' | 'float' }, text: string, where: string): number {
  const value = parseNumber(text);
  const whole = flag.kind === 'int';
  if (value === null || (whole && !/^\s*[+-]?\d+\s*$/.test(text)) || (whole && !Number.isSafeInteger(value)))
    throw new UsageError(
      `${where}: ${quoted(text)} is not a ${whole ? 'whole number' : 'number'}. Expected ${whole ? 'a whole number such as 8' : 'a number such as 0.5, or inf'}.`,
    );
  const { min, max } = flag;
  if (min !== undefined && value < min)
    throw new UsageError(`${where}: ${text} is too small. Expected at least ${min}.`);
  if (max !== undefined && value > max)
    throw new UsageError(`${where}: ${text} is too large. Expected at most ${max}.`);
  return value;
}

function parsePositive(kind: 'positive-int' | 'positive-float', text: string, where: string): number {
  const value = parseNumber(text);
  if (kind === 'positive-int') {
    if (value !== null && Number.isSafeInteger(value) && value > 0 && /^\s*\+?\d+\s*$/.test(text))
      return value;
    throw new UsageError(`${where}: must be a positive integer, got ${quoted(text)}`);
  }
  if (value !== null && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${where}: must be a finite positive number, got ${quoted(text)}`);
}

const trueWords = new Set(['true', '1', 'yes', 'on']);
const falseWords = new Set(['false', '0', 'no', 'off']);

function parseBoolean(text: string, where: string): boolean {
  const word = text.trim().toLowerCase();
  if (trueWords.has(word)) return true;
  if (falseWords.has(word)) return false;
  throw new UsageError(`${where}: ${quoted(text)} is neither true nor false.`);
}

/** @throws UsageError that lists the choices and names the nearest */
export function checkChoice(text: string, choices: readonly string[], where: string): string {
  if (choices.includes(text)) return text;
  const nearest = nearestName(text, choices);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `${where}: ${quoted(text)} is not one of its values.${slip}\nAllowed: ${choices.join(', ')}`,
  );
}

function parseJsonFlag(kind: 'json' | 'number-or-json', text: string, where: string): number | JsonObject {
  if (kind === 'number-or-json') {
    const number = parseNumber(text);
    if (number !== null) return number;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${where}: ${quoted(text)} is not JSON (${why}).`);
  }
  if (isJsonObject(value)) return value;
  const expected = kind === 'json' ? 'a JSON object such as {"key": 1}' : 'a number or a JSON object';
  throw new UsageError(`${where}: ${quoted(text)} is JSON, but not an object. Expected ${expected}.`);
}

function parsePairs(flag: Flag & { kind: 'pairs' }, texts: readonly string[], where: string): Pairs {
  return texts.map((text) => {
    const at = text.indexOf(flag.separator);
    if (at < 0) throw new UsageError(`${where}: ${quoted(text)}. ${flag.syntaxError}`);
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
  });
}

/** @throws UsageError with the reference's wording */
function checkExists(path: string, where: string): string {
  if (existsSync(path) && statSync(path).isFile()) return path;
  throw new UsageError(`${where}: file does not exist: ${quoted(path)}`);
}

/** The non-empty parts of a comma-separated list, trimmed. */
export function splitCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/**
 * The value of a flag from its text or texts.
 * @param where how to name the place in messages, e.g. `--request-rate`
 * @throws UsageError that says what was given, what is expected and, for choices, what is nearest
 */
export function parseFlagValue(flag: Flag, texts: readonly string[], where: string): FlagValue {
  const text = texts.at(-1) ?? '';
  switch (flag.kind) {
    case 'string':
      return text;
    case 'path':
      return expandHome(text);
    case 'existing-file':
      return checkExists(expandHome(text), where);
    case 'int':
    case 'float':
      return parseRange(flag, text, where);
    case 'positive-int':
    case 'positive-float':
      return parsePositive(flag.kind, text, where);
    case 'boolean':
      return parseBoolean(text, where);
    case 'choice':
      return checkChoice(text, flag.choices, where);
    case 'json':
    case 'number-or-json':
      return parseJsonFlag(flag.kind, text, where);
    case 'list':
      return flag.choices === undefined
        ? [...texts]
        : texts.map((one) => checkChoice(one, flag.choices ?? [], where));
    case 'repeated':
      return [...texts];
    case 'comma-list':
      return splitCommas(text);
    case 'pairs':
      return parsePairs(flag, texts, where);
    default:
      return flag satisfies never;
  }
}
