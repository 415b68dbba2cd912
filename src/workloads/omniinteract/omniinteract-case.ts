import { createHash } from 'node:crypto';

/** The parts of OmniInteract, in the order in which they are looked through. */
export const omniInteractSubsets = ['1q1a', '1q1a_math', '1qna'] as const;
export type OmniInteractSubset = (typeof omniInteractSubsets)[number];

/** One recorded conversation: a video, and what a listener should have said when. */
export type OmniInteractCase = {
  readonly subset: OmniInteractSubset;
  /** Path of the video from the subset's folder, with `/`. */
  readonly videoRel: string;
  /** Absolute. */
  readonly videoPath: string;
  readonly annotationPath: string;
  /** `multi_turn`, `nested`, `1qna`, or another that a map names; lower case. */
  readonly sceneType: string;
};

/** Whether a text names a subset. */
export function isSubset(text: string): text is OmniInteractSubset {
  return omniInteractSubsets.some((subset) => subset === text);
}

/** A path inside a subset as the name of one file: no extension, `__` for `/`. */
function flatStem(videoRel: string): string {
  return videoRel
    .replaceAll('\\', '/')
    .replace(/\.[^./]*$/, '')
    .replaceAll('/', '__');
}

type CaseName = Pick<OmniInteractCase, 'subset' | 'videoRel'>;

/** What identifies a case: `<subset>/<video_rel>`. */
export function caseKey({ subset, videoRel }: CaseName): string {
  return `${subset}/${videoRel.replaceAll('\\', '/')}`;
}

/** Name of a case's folder in its subset's. The hash tells paths apart that would have one name. */
export function caseFolderName(name: CaseName): string {
  const hash = createHash('sha256').update(caseKey(name)).digest('hex').slice(0, 8);
  return `${flatStem(name.videoRel)}--${hash}`;
}

/** As the official scripts call the output of a case. */
export function officialOutputName({ subset, videoRel }: CaseName): string {
  const rel = subset === '1qna' ? videoRel.replace(/^videos_bench\//, '') : videoRel;
  return `${subset}/${flatStem(rel)}`;
}
