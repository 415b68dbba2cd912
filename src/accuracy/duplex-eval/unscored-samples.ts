import type { EvalSample } from './eval-sample.ts';

type Which = Pick<EvalSample, 'split' | 'id'>;

/** A sample that was to be judged, and has no score that counts. */
export type UnscoredSample = {
  readonly split: string;
  readonly id: string;
  /** Why it could not be judged; `null` = its turn did not come. */
  readonly error: string | null;
};

function keyOf({ split, id }: Which): string {
  return `${split}/${id}`;
}

/** Which samples have no score that counts: kept beside the scores, so that means over these can say what they lack. */
export class UnscoredSamples {
  readonly #samples: Map<string, UnscoredSample>;

  constructor(samples: readonly UnscoredSample[]) {
    this.#samples = new Map(samples.map((sample) => [keyOf(sample), sample]));
  }

  get all(): readonly UnscoredSample[] {
    return [...this.#samples.values()];
  }

  has(which: Which): boolean {
    return this.#samples.has(keyOf(which));
  }

  /** @param error `null` = it is yet to be judged */
  add({ split, id }: Which, error: string | null): void {
    this.#samples.set(keyOf({ split, id }), { split, id, error });
  }

  remove(which: Which): void {
    this.#samples.delete(keyOf(which));
  }
}

/** The list as its file holds it. `null` = it is none. */
export function unscoredOf(value: unknown): UnscoredSample[] | null {
  return Array.isArray(value) && value.every(isUnscored) ? value : null;
}

function isUnscored(value: unknown): value is UnscoredSample {
  return (
    typeof value === 'object' &&
    value !== null &&
    'split' in value &&
    typeof value.split === 'string' &&
    'id' in value &&
    typeof value.id === 'string' &&
    'error' in value &&
    (value.error === null || typeof value.error === 'string')
  );
}
