import { omniInteractSubsets } from './omniinteract-case.ts';
import type { ScenarioTag } from './scenario-tags.ts';

/** Which conversations are replayed, and within which limits. */
export type OmniInteractOptions = {
  readonly subsets: readonly string[];
  readonly scenarioTags: readonly ScenarioTag[];
  /** Only cases with one of the tags. */
  readonly scenarioFocus: boolean;
  /** A file that names the cases, in place of drawing them. */
  readonly videoList: string | null;
  /** Limit of a session beside its recording, s. */
  readonly timeoutS: number;
  /** Limit of each program that decodes, s. */
  readonly mediaTimeoutS: number;
  readonly maxVideoDurationS: number;
  /** A WAV file of the voice to answer with. */
  readonly refAudio: string | null;
  /** A session that answers nothing aloud has failed. */
  readonly requireResponse: boolean;
};

/** What holds without flags. */
export const defaultOmniInteractOptions: OmniInteractOptions = {
  subsets: omniInteractSubsets,
  scenarioTags: [],
  scenarioFocus: false,
  videoList: null,
  timeoutS: 900,
  mediaTimeoutS: 600,
  maxVideoDurationS: 3600,
  refAudio: null,
  requireResponse: false,
};
