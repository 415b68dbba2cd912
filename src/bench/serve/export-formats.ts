/** The forms that a stored run can be written in. */
export const exportFormats = ['csv', 'jsonl', 'parquet', 'aiperf', 'guidellm', 'llmd'] as const;
export type ExportFormat = (typeof exportFormats)[number];
