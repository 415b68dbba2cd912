import { UsageError } from '../foundation/errors.ts';

/**
 * The address of a judge, as it was given.
 * @param flag its name without dashes
 * @throws UsageError for what no request can be sent to
 */
export function judgeUrl(flag: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return value;
  throw new UsageError(
    `--${flag}: '${value}' is no URL of a judge. Expected http:// or https:// and a host, e.g. http://127.0.0.1:8001/v1.`,
  );
}
