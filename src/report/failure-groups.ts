import type { FailureGroup } from '../metrics/failures.ts';
import type { RunSummary } from '../metrics/summary.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

const shownGroups = 5;

/**
 * What went wrong, for the lines after the report: the most frequent kinds of failure with their count and first
 * message. Empty where nothing did.
 */
export function renderFailureGroups(summary: RunSummary): string[] {
  const { failureGroups: groups, run } = summary;
  const lines: string[] = groups.length > 0 ? ['Failed requests by cause:'] : [];
  for (const group of groups.slice(0, shownGroups)) lines.push(`  ${groupLine(group)}`);
  const hidden = groups.slice(shownGroups);
  if (hidden.length > 0) {
    const count = hidden.reduce((sum, group) => sum + group.count, 0);
    lines.push(`  ${count} × other causes (${hidden.length}); --save-result lists every failed request`);
  }
  if ((run.aborted ?? 0) > 0) lines.push(`Aborted requests, not counted as failed: ${run.aborted}`);
  return lines;
}

function groupLine({ count, kind, status, error, body }: FailureGroup): string {
  const message = sanitizeForTerminal(error);
  const proof = body === null ? '' : sanitizeForTerminal(body, 200);
  const isSaid = proof === '' || message.includes(proof.slice(0, 40));
  const cause = status === null ? kind : `${kind}, status ${status}`;
  return `${count} × ${cause}: ${message}${isSaid ? '' : ` (reply: ${proof})`}`;
}
