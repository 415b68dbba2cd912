/** A JSON object as a flag or a configuration file gives it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `KEY=VALUE` or `KEY:VALUE` entries in the order given; a key may come more than once. */
export type Pairs = readonly (readonly [key: string, value: string])[];

type FlagBase = {
  /** Heading under which help lists the flag; `--help=GROUP` shows one group. */
  readonly group: string;
  /** A sentence or two: what it does, unit, what the default means where that is not plain. */
  readonly doc: string;
  /** What stands for the value in help; derived from the kind where absent. */
  readonly placeholder?: string;
  /** Other spellings, with their dashes. */
  readonly aliases?: readonly string[];
  /** Shown by plain `--help`. */
  readonly common?: true;
  /** Accepted and never listed in short help. */
  readonly hidden?: true;
  /** How help words the default where the plain value says too little. */
  readonly defaultDoc?: string;
  /**
   * What this flag belongs to, where that is something this command cannot do: it is accepted, checked, and said
   * to have no effect.
   */
  readonly belongsTo?: string;
};

/**
 * One flag as data. From it follow parsing, the configuration file, the environment variable, help and docs.
 * Default `null` = not given, which the flag's doc explains.
 */
export type Flag = FlagBase &
  (
    | {
        readonly kind: 'string';
        readonly default: string | null;
        /** A configuration file may give a map, which stands for its JSON. */
        readonly takesObject?: true;
      }
    | { readonly kind: 'path' | 'existing-file'; readonly default: string | null }
    | {
        readonly kind: 'int' | 'float';
        readonly default: number | null;
        /** Smallest and largest value that is accepted. */
        readonly min?: number;
        readonly max?: number;
      }
    /** The reference's own kinds, with its wording when a value is refused. */
    | { readonly kind: 'positive-int' | 'positive-float'; readonly default: number | null }
    | { readonly kind: 'boolean'; readonly default: boolean | null }
    | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default: string | null }
    /** An object; its members can be given one by one as `--flag.member value`. */
    | { readonly kind: 'json'; readonly default: JsonObject | null }
    /** One number, or an object of numbers. */
    | { readonly kind: 'number-or-json'; readonly default: number | JsonObject }
    /** Space-separated values up to the next flag. */
    | {
        readonly kind: 'list';
        readonly choices?: readonly string[];
        readonly default: readonly string[] | null;
      }
    /** One value for each use of the flag; all uses count. */
    | { readonly kind: 'repeated'; readonly default: readonly string[] | null }
    /** One value, split at commas. */
    | { readonly kind: 'comma-list'; readonly default: readonly string[] | null }
    | {
        readonly kind: 'pairs';
        readonly separator: '=' | ':';
        /** What to say of an entry without the separator. */
        readonly syntaxError: string;
        readonly default: null;
      }
  );

/** A command's flags by long name without dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;

type ValueByKind<F extends Flag> = F extends { kind: 'choice'; choices: readonly (infer C)[] }
  ? C
  : F extends { kind: 'boolean' }
    ? boolean
    : F extends { kind: 'int' | 'float' | 'positive-int' | 'positive-float' }
      ? number
      : F extends { kind: 'json' }
        ? JsonObject
        : F extends { kind: 'number-or-json' }
          ? number | JsonObject
          : F extends { kind: 'list' | 'repeated' | 'comma-list' }
            ? readonly string[]
            : F extends { kind: 'pairs' }
              ? Pairs
              : string;

/** The type of a flag's value; `null` only where the default is `null`. */
export type ValueOf<F extends Flag> = ValueByKind<F> | (F['default'] extends null ? null : never);

/** The values of a whole table, by flag name. */
export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

/** Any value that a flag can have. */
export type FlagValue = string | number | boolean | JsonObject | readonly string[] | Pairs | null;

/** `_` and `-` are the same in a flag's name, and upper case is not: `Num_Prompts` is no flag. */
export function canonicalName(name: string): string {
  return name.replaceAll('_', '-');
}

/** Whether a value follows the flag. */
export function takesValue(flag: Flag): boolean {
  return flag.kind !== 'boolean';
}

/** Whether a flag takes all values up to the next flag. */
export function takesMany(flag: Flag): boolean {
  return flag.kind === 'list' || flag.kind === 'pairs';
}

/** Whether `--flag.member value` is a way to write it. */
export function takesMembers(flag: Flag): boolean {
  return flag.kind === 'json' || flag.kind === 'number-or-json';
}

/** Every spelling that a table knows, in its order, with dashes. */
export function knownSpellings(table: FlagTable): string[] {
  return Object.entries(table).flatMap(([name, flag]) => [`--${name}`, ...(flag.aliases ?? [])]);
}

/** The name of the environment variable of a flag. */
export function environmentName(name: string): string {
  return `OMNIMETER_${name.replaceAll('-', '_').toUpperCase()}`;
}
