import type { SceneType } from './slot.ts';

/** One conversation to be judged: what was to be said, and what was. */
export type EvaluationCase = {
  readonly sampleId: string;
  readonly subset: string;
  /** As the manifest or marker has it; read when the case is judged, so that a wrong one fails that case alone. */
  readonly sceneName: string;
  /** Annotation. */
  readonly annotationPath: string;
  /** `wav_transcript.json`, or one with aligned words. */
  readonly transcriptPath: string;
};

/** What a stored evaluation was made from; equal inputs need no second judgement. */
export type InputsFingerprint = {
  readonly annotation_sha256: string;
  readonly transcript_sha256: string;
  readonly judge_model: string;
  readonly judge_base_url: string;
  readonly judge_max_tokens: number;
  readonly protocol_source: string;
  readonly prompts_sha256: string;
};

/** What a case's files hold and nobody could judge, as there is no telling when it was to be. */
export type LeftOut = {
  /** Questions or steps without readable times, or without the other half of their nested pair. */
  readonly annotation_rows: number;
  readonly transcript_chunks: number;
  readonly transcript_words: number;
};

/** The evaluation of one case, as its file holds it. */
export type CaseEvaluation = {
  readonly status: 'ok';
  readonly sample_id: string;
  readonly subset: string;
  readonly scene_type: SceneType;
  readonly gt_json: string;
  readonly model_json: string;
  readonly timing_precision: string;
  readonly protocol_source: string;
  readonly inputs_fingerprint: InputsFingerprint;
  readonly summary: unknown;
  readonly slots: readonly unknown[];
  readonly unmatched_chunks: readonly unknown[];
  readonly left_out: LeftOut;
};
