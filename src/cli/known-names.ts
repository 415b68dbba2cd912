/** Endpoints that name their backend when none is given. */
export const backendsNamedByPath: readonly string[] = [
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
];

/** Datasets of the reference that cannot be used, so that naming one is told apart from a slip. */
export const knownDatasets: readonly string[] = [
  'daily-omni',
  'seed-tts',
  'seed-tts-text',
  'seed-tts-design',
  'ttsd',
  'sound-effect',
  'videomme',
];
