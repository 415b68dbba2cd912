import { InputFileError, messageOf } from '../foundation/errors.ts';
import type { HubEnvironment } from './hub-environment.ts';
import type { HubRepository } from './hub-repository.ts';

/** The hub did not give what was asked for; the message says why and what to do, without a full stop. */
export class HubError extends InputFileError {}

/** What the hub said in place of what was asked for. */
export type Refusal = {
  readonly status: number;
  /** `x-error-code`: GatedRepo, RepoNotFound, RevisionNotFound…; `null` = none. */
  readonly code: string | null;
  /** `Retry-After`; `null` = none. */
  readonly retryAfter: string | null;
};

const names = { model: 'model', dataset: 'data set' } as const;

/** Why the hub refused, and what helps against it. */
export function refusalError(hub: HubEnvironment, repository: HubRepository, said: Refusal): HubError {
  const { kind, id } = repository;
  const answered = `the hub answered ${said.status} for "${id}"`;
  switch (said.status) {
    case 401:
    case 403:
      return new HubError(`${answered}: ${accessAdvice(hub, repository, said.code === 'GatedRepo')}`);
    case 404:
      return new HubError(
        said.code === 'RevisionNotFound'
          ? `the hub has no such revision of the ${names[kind]} "${id}"; check the branch, tag or commit`
          : `the hub has no ${names[kind]} "${id}" of that revision; check the id and the revision, and set HF_TOKEN if it is private`,
      );
    case 429:
      return new HubError(
        `${answered}: too many requests from this address; ${waitAdvice(said.retryAfter)}${hub.token === null ? ', or set HF_TOKEN, with which more are allowed' : ''}`,
      );
    default:
      return new HubError(`${answered}; try again later, or give a folder instead`);
  }
}

function accessAdvice(hub: HubEnvironment, { kind, id }: HubRepository, isGated: boolean): string {
  const page = `${hub.endpoint}/${kind === 'dataset' ? 'datasets/' : ''}${id}`;
  if (isGated)
    return hub.token === null
      ? `it is gated; accept its terms on ${page} and set HF_TOKEN to a token of that account`
      : `it is gated, and the account of the token in use (HF_TOKEN, or that of a login) has no access; accept its terms on ${page} with that account`;
  return hub.token === null
    ? 'it does not exist, or it is private or gated; check the id, and set HF_TOKEN if you have access'
    : `it does not exist, or the token in use (HF_TOKEN, or that of a login) is not valid or has no access; check the id and the token, and ask for access on ${page}`;
}

function waitAdvice(retryAfter: string | null): string {
  const seconds = /^\s*(\d+)\s*$/.exec(retryAfter ?? '')?.[1];
  return seconds === undefined
    ? 'wait some minutes and start again'
    : `wait the ${seconds} s that it asks for and start again`;
}

/** Nobody answered. */
export function unreachableError(hub: HubEnvironment, cause: unknown): HubError {
  const asked = `no hub in reach at ${hub.endpoint} (${messageOf(cause)})`;
  return new HubError(
    `${asked}; check the network and the proxy variables, set HF_ENDPOINT to a mirror that can be reached, or give a folder instead`,
    { cause },
  );
}

/** What the hub is not asked for, because the environment forbids it. */
export function offlineError(hub: HubEnvironment, what: string): HubError {
  const variable = hub.offlineBy ?? 'HF_HUB_OFFLINE';
  return new HubError(
    `${what} is not in the cache ${hub.cacheFolder} (HF_HUB_CACHE names another), and ${variable} forbids to ask the hub; unset ${variable}, or fetch it where there is a network and copy it into that folder`,
  );
}
