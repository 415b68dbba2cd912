import type { FailureKind, RequestRecord } from '../records/request-record.ts';

/** One failed request, as the JSON lists it. */
export type FailedRequest = {
  readonly index: number;
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly error: string;
  readonly body: string | null;
};

/** Failures that look alike. */
export type FailureGroup = {
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly count: number;
  /** Of the first of them. */
  readonly error: string;
  readonly body: string | null;
};

/** The failed requests among the given ones; aborted ones are none. */
export function failedRequestsOf(records: readonly RequestRecord[]): FailedRequest[] {
  const failed: FailedRequest[] = [];
  for (const { index, outcome } of records) {
    if (outcome.ok || outcome.kind === 'aborted') continue;
    const { kind, status, message, body } = outcome;
    failed.push({ index, kind, status, error: message, body });
  }
  return failed;
}

/** Groups by kind, status and message, the most frequent first; of equals the one seen first. */
export function failureGroupsOf(failed: readonly FailedRequest[]): FailureGroup[] {
  const groups = new Map<string, { first: FailedRequest; count: number }>();
  for (const failure of failed) {
    const key = JSON.stringify([failure.kind, failure.status, pattern(failure.error), pattern(failure.body)]);
    const group = groups.get(key);
    if (group) group.count += 1;
    else groups.set(key, { first: failure, count: 1 });
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ first: { kind, status, error, body }, count }) => ({ kind, status, count, error, body }));
}

/** A message without what differs from request to request: ids, addresses, counts, times. */
function pattern(message: string | null): string | null {
  return message === null ? null : message.slice(0, 500).replace(/[0-9a-f-]{8,}|\d+(\.\d+)?/gi, '#');
}
