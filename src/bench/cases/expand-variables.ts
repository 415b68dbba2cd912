import { InputFileError } from '../../foundation/errors.ts';

/** Values by name; what is undefined or empty counts as not given. */
export type Variables = Readonly<Record<string, string | undefined>>;

const reference = /\$\$|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * `${NAME}` and `${NAME:-default}` in a text, as a shell reads them; `$$` is a dollar sign.
 * @param where what the text is, for the message
 * @throws InputFileError for a variable without a value
 */
export function expandVariables(text: string, variables: Variables, where: string): string {
  return text.replace(reference, (token: string, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return token[0] ?? '';
    const value = variables[name] || fallback;
    if (value === undefined)
      throw new InputFileError(
        `${where}: \${${name}} has no value. Set it in the environment: ${name}=… omnimeter bench cases ….`,
      );
    return value;
  });
}

/** {@link expandVariables} in every text of a JSON value. */
export function expandAll(value: unknown, variables: Variables, where: string): unknown {
  if (typeof value === 'string') return expandVariables(value, variables, where);
  if (Array.isArray(value)) return value.map((each, i) => expandAll(each, variables, `${where}[${i}]`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, expandAll(each, variables, `${where}.${key}`)]),
  );
}
