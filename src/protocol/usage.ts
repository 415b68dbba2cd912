import { z } from 'zod';

/** Token counts of a reply. Completion tokens are those of the text stage, also where speech is produced. */
export const usageSchema = z.looseObject({
  prompt_tokens: z.number().int().nonnegative(),
  total_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
});
