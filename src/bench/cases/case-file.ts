import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { splitShellWords } from '../../foundation/shell-words.ts';
import { type Gate, parseGate } from '../../report/compare/gate.ts';
import { expandAll, type Variables } from './expand-variables.ts';
import { type FlagMap, flagWords } from './flag-words.ts';
import { checkResultNames } from './results-folder.ts';

const words = z.union([z.string().min(1), z.array(z.coerce.string()).min(1)]);
const environment = z.record(z.string(), z.coerce.string());
/** Of a file or folder of its own in the results; file systems take 255 bytes, and some of them are for endings. */
const name = z
  .string()
  .max(200)
  .regex(/^[\w.-]+$/, 'letters, digits, dots, dashes and underscores only')
  .regex(/[^.]/, 'a name of dots alone would lie outside of its folder');
const conditions = z.array(z.string());
const flags = z.record(z.string(), z.unknown());

const serverSchema = z.strictObject({
  command: words,
  env: environment.default({}),
  /** Where it answers; by the command's --host and --port otherwise. */
  url: z.string().optional(),
  /** Path that answers with 200 once the server is ready. */
  health: z.string().startsWith('/').default('/health'),
  ready_timeout_s: z.number().positive().default(600),
});

const caseSchema = z.strictObject({
  label: name,
  type: z.string().default('local'),
  model_type: z.string().optional(),
  description: z.string().optional(),
  servers: z.array(z.string()).default([]),
  env: environment.default({}),
  /** Flags of `bench serve` by name. */
  bench: flags.default({}),
  /** More of its command line, as written. */
  arguments: words.optional(),
  timeout_s: z.number().positive().optional(),
  gates: conditions.default([]),
  baseline: z.union([z.string().min(1), flags]).optional(),
  fail_on: conditions.default([]),
});

const aggregateSchema = z.strictObject({
  label: name,
  cases: z.array(z.string()).min(1),
  omniinteract_aggregate_min_ia_qtf1: z.number().min(0).max(1),
});

const fileSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  variables: environment.default({}),
  servers: z.record(name, serverSchema).default({}),
  defaults: z
    .strictObject({ bench: flags.default({}), env: environment.default({}) })
    .default({ bench: {}, env: {} }),
  cases: z.array(caseSchema).min(1),
  aggregates: z.array(aggregateSchema).default([]),
});

/** A server that cases need. */
export type CaseServer = {
  readonly name: string;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `null` = as its command says. */
  readonly url: string | null;
  readonly healthPath: string;
  readonly readyTimeoutS: number;
};

/** One benchmark of a case file, with all defaults and variables in their places. */
export type BenchCase = {
  readonly label: string;
  readonly type: string;
  readonly modelType: string | null;
  readonly servers: readonly CaseServer[];
  readonly env: Readonly<Record<string, string>>;
  /** What follows `bench serve`. */
  readonly words: readonly string[];
  /** `null` = no limit. */
  readonly timeoutS: number | null;
  /** What must hold of the result. */
  readonly gates: readonly Gate[];
  /** A result file or run folder, or the values of a result; `null` = none. */
  readonly baseline: string | FlagMap | null;
  /** What must not hold of the change against the baseline. */
  readonly failOn: readonly Gate[];
  /** Folder of its results. */
  readonly dir: string;
};

/** The least pooled score of several cases. */
export type Aggregate = {
  readonly label: string;
  readonly cases: readonly string[];
  readonly minIaQtf1: number;
};

export type CaseFile = {
  readonly name: string;
  readonly cases: readonly BenchCase[];
  readonly aggregates: readonly Aggregate[];
};

type FileContent = z.infer<typeof fileSchema>;

/**
 * Reads a case file, YAML or JSON.
 * @param env values of its variables; they win over those that the file gives
 * @throws InputFileError naming the place and what was expected there
 */
export function readCaseFile(path: string, resultsDir: string, env: Variables): CaseFile {
  const content = parsed(path);
  const labels = [...content.cases, ...content.aggregates].map(({ label }) => label);
  const twice = labels.find((label, i) => labels.indexOf(label) !== i);
  if (twice !== undefined) throw new InputFileError(`${path}: the label '${twice}' is there twice.`);
  const names = (list: readonly { readonly label: string }[]): string[] => list.map(({ label }) => label);
  checkResultNames(path, {
    servers: Object.keys(content.servers),
    cases: names(content.cases),
    aggregates: names(content.aggregates),
  });
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const shared = {
    ...content.variables,
    ...given,
    RESULTS_DIR: resolve(resultsDir),
    CASES_DIR: resolve(dirname(path)),
  };
  const fileDefined = new Set(Object.keys(content.servers));
  return {
    name: content.name ?? basename(path).replace(/\.\w+$/, ''),
    cases: content.cases.map((_, i) => caseOf(content, i, { path, shared, fileDefined, resultsDir })),
    aggregates: content.aggregates.map((aggregate, i) => {
      for (const label of aggregate.cases)
        known(
          label,
          content.cases.map((each) => each.label),
          `${path}: aggregates[${i}].cases`,
          'case',
        );
      const { label, cases, omniinteract_aggregate_min_ia_qtf1: minIaQtf1 } = aggregate;
      return { label, cases, minIaQtf1 };
    }),
  };
}

function parsed(path: string): FileContent {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'), { prettyErrors: true });
  } catch (cause) {
    throw new InputFileError(`${path}: the case file cannot be read: ${messageOf(cause)}`, { cause });
  }
  const result = fileSchema.safeParse(value);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path: place, message }) => `${placeOf(place)}: ${message}`);
  throw new InputFileError(
    `${path}: not a case file:\n${lines.join('\n')}\ndocs/case-files.md shows the form.`,
  );
}

function placeOf(place: readonly PropertyKey[]): string {
  const text = place.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

function known(label: string, labels: readonly string[], where: string, what: string): void {
  if (labels.includes(label)) return;
  const nearest = nearestName(label, labels);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new InputFileError(`${where}: there is no ${what} '${label}'.${slip}`);
}

type Around = {
  readonly path: string;
  readonly shared: Variables;
  readonly fileDefined: ReadonlySet<string>;
  readonly resultsDir: string;
};

function caseOf(
  content: FileContent,
  index: number,
  { path, shared, fileDefined, resultsDir }: Around,
): BenchCase {
  const raw = content.cases[index] as FileContent['cases'][number];
  const where = `${path}: ${raw.label}`;
  const dir = resolve(resultsDir, raw.label);
  const variables = { ...shared, CASE_DIR: dir, LABEL: raw.label };
  // What is expanded keeps its shape: only texts in it change.
  const expand = <T>(value: T, part: string): T => expandAll(value, variables, `${where}: ${part}`) as T;
  const merged = { ...content.defaults.bench, ...raw.bench };
  const servers = expand(raw.servers, 'servers');
  for (const server of servers) known(server, [...fileDefined], `${where}: servers`, 'server');
  const extra =
    raw.arguments === undefined ? [] : wordsOf(expand(raw.arguments, 'arguments'), `${where}: arguments`);
  return {
    label: raw.label,
    type: raw.type,
    modelType: raw.model_type ?? null,
    // A server belongs to no case: its logs and its command are the same for all that use it.
    servers: servers.map((server) => serverOf(content, server, shared, path)),
    env: expand({ ...content.defaults.env, ...raw.env }, 'env'),
    words: [...flagWords(expand(merged, 'bench')), ...extra],
    timeoutS: raw.timeout_s ?? null,
    gates: raw.gates.map((text) => gateOf('threshold', text, `${where}: gates`)),
    baseline: baselineOf(raw.baseline === undefined ? null : expand(raw.baseline, 'baseline'), path),
    failOn: failOnOf(raw, where),
    dir,
  };
}

/** A file is looked for beside the case file. */
function baselineOf(baseline: string | FlagMap | null, path: string): BenchCase['baseline'] {
  return typeof baseline === 'string' ? resolve(dirname(path), baseline) : baseline;
}

function failOnOf(raw: FileContent['cases'][number], where: string): Gate[] {
  if (raw.fail_on.length > 0 && raw.baseline === undefined)
    throw new InputFileError(`${where}: fail_on is about the change against a baseline, which is not given.`);
  return raw.fail_on.map((text) => gateOf('fail-on', text, `${where}: fail_on`));
}

function gateOf(kind: Gate['kind'], text: string, where: string): Gate {
  try {
    return parseGate(kind, text);
  } catch (cause) {
    throw new InputFileError(`${where}: ${messageOf(cause)}`, { cause });
  }
}

function serverOf(content: FileContent, server: string, variables: Variables, path: string): CaseServer {
  const raw = content.servers[server] as FileContent['servers'][string];
  const where = `${path}: servers.${server}`;
  const expanded = expandAll(raw, variables, where) as typeof raw;
  return {
    name: server,
    words: wordsOf(expanded.command, `${where}.command`),
    env: expanded.env,
    url: expanded.url ?? null,
    healthPath: expanded.health,
    readyTimeoutS: expanded.ready_timeout_s,
  };
}

function wordsOf(value: string | readonly string[], where: string): string[] {
  if (typeof value !== 'string') return [...value];
  try {
    return splitShellWords(value);
  } catch (cause) {
    throw new InputFileError(`${where}: '${value}' is no command: ${messageOf(cause)}.`, { cause });
  }
}

/** What of a file is to run. */
export type CaseChoice = {
  /** Parts of labels, any of which will do; empty = every label. */
  readonly labels: readonly string[];
  readonly types: readonly string[];
  readonly modelTypes: readonly string[];
};

/**
 * The cases that were chosen, in order.
 * @throws InputFileError where there is none, naming what there is
 */
export function chosenCases({ name: file, cases }: CaseFile, choice: CaseChoice): BenchCase[] {
  const isIn = (value: string | null, list: readonly string[]): boolean =>
    list.length === 0 || (value !== null && list.includes(value));
  const chosen = cases.filter(
    ({ label, type, modelType }) =>
      isIn(type, choice.types) &&
      isIn(modelType, choice.modelTypes) &&
      (choice.labels.length === 0 || choice.labels.some((part) => label.includes(part))),
  );
  if (chosen.length > 0) return chosen;
  const list = cases.map(
    ({ label, type, modelType }) => `${label} (${[type, modelType].filter(Boolean).join(', ')})`,
  );
  throw new InputFileError(`${file}: no case is chosen.\nAvailable: ${list.join(', ')}`);
}
