import { z } from 'zod';

/** A number, also written as text as forms do. */
export function formNumber(schema: z.ZodNumber): z.ZodType<number, unknown> {
  return z.preprocess((value) => {
    if (typeof value !== 'string') return value;
    const text = value.trim();
    return text === '' || !Number.isFinite(Number(text)) ? value : Number(text);
  }, schema);
}

/** A boolean, also written as text or number: true, True, 1, yes, on and their opposites. */
export const formBoolean: z.ZodType<boolean, unknown> = z.preprocess((value) => {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== 'string') return value;
  const text = value.trim().toLowerCase();
  if (['true', '1', 'yes', 'on'].includes(text)) return true;
  if (['false', '0', 'no', 'off', ''].includes(text)) return false;
  return value;
}, z.boolean());

/** A value that a form carries as JSON text. */
export function formJson<T>(schema: z.ZodType<T>): z.ZodType<T, unknown> {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'is not valid JSON' });
      return z.NEVER;
    }
  }, schema);
}
