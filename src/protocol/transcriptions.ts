import { z } from 'zod';
import { formBoolean, formNumber } from './form-values.ts';

export const transcriptionFormats = ['json', 'text', 'verbose_json', 'srt', 'vtt'] as const;
export type TranscriptionFormat = (typeof transcriptionFormats)[number];

/** Text fields of `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
export const transcriptionRequestSchema = z.looseObject({
  model: z.string().nullish(),
  language: z.string().nullish(),
  prompt: z.string().nullish(),
  response_format: z.enum(transcriptionFormats).nullish(),
  temperature: formNumber(z.number().min(0).max(2)).nullish(),
  stream: formBoolean.nullish(),
  /** A last event with usage. */
  stream_include_usage: formBoolean.nullish(),
  timestamp_granularities: z.union([z.string(), z.array(z.string())]).nullish(),
});
export type TranscriptionRequest = z.infer<typeof transcriptionRequestSchema>;

/** A piece of a transcription and where it stands, s. */
export const transcriptionSegmentSchema = z.looseObject({
  id: z.number().int(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
});
export type TranscriptionSegment = z.infer<typeof transcriptionSegmentSchema>;

export const verboseTranscriptionSchema = z.looseObject({
  task: z.string().optional(),
  language: z.string(),
  /** Length of the audio, s. */
  duration: z.union([z.number(), z.string()]),
  text: z.string(),
  segments: z.array(transcriptionSegmentSchema).optional(),
  words: z.array(z.looseObject({ word: z.string(), start: z.number(), end: z.number() })).optional(),
});
export type VerboseTranscription = z.infer<typeof verboseTranscriptionSchema>;
