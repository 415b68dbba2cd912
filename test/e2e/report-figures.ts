/**
 * The figures of a printed report as `section / label` → value, e.g. `Stage 1 (talker) / Mean TPOP (ms)`; the sections
 * before the first stage stand under `Serving`.
 */
export function reportFigures(stdout: string): Map<string, number> {
  const figures = new Map<string, number>();
  let section = 'Serving';
  for (const line of stdout.split('\n')) {
    const stage = /^=+ (Stage \d+ \([^)]*\)) =+$/.exec(line);
    if (stage?.[1]) section = stage[1];
    const value = /^(.+?): +(-?[\d.]+)%?\s*$/.exec(line);
    if (value?.[1] && value[2]) figures.set(`${section} / ${value[1]}`, Number(value[2]));
  }
  return figures;
}
