import { UsageError } from '../foundation/errors.ts';
import type { LoadContext } from './dataset.ts';
import { type Row, wrongField } from './row-value.ts';

/**
 * The output length of a row: `--custom-output-len`, or with -1 the row's own `output_tokens`.
 * @returns a string that says what is wrong with the row
 */
export function rowOutputTokens(row: Row, customOutputLen: number): number | string {
  if (customOutputLen !== -1) return customOutputLen;
  const { output_tokens: output } = row;
  if (typeof output === 'number' && Number.isInteger(output) && output > 0) return output;
  return wrongField('output_tokens', output, 'a whole number > 0, because --custom-output-len is -1');
}

/** @throws UsageError for an output length that cannot be what was meant */
export function checkCustomOutputLen({ options }: LoadContext): void {
  if (options.customOutputLen >= 1 || options.customOutputLen === -1) return;
  throw new UsageError(
    `--custom-output-len is ${options.customOutputLen}, expected a whole number > 0, or -1 for each row's "output_tokens".`,
  );
}
