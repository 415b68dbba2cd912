import { readFileSync } from 'node:fs';

/** Beside the bundle's chunks, or in the build's output when the sources run as they are. */
const places = { built: './', source: '../../../dist/' };

/** The built page without a run in it. */
export function readPageTemplate(
  name: 'report-page.html' | 'timeline-page.html' = 'report-page.html',
): string {
  const place = import.meta.url.endsWith('.ts') ? places.source : places.built;
  const file = new URL(place + name, import.meta.url);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`The report page is missing from this installation (${name}); npm run build makes it.`, {
      cause,
    });
  }
}
