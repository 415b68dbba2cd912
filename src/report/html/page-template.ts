import { readFileSync } from 'node:fs';

/** Beside the bundle's chunks, or in the build's output when the sources run as they are. */
const places = ['./report-page.html', '../../../dist/report-page.html'];

/** The built page without a run in it. */
export function readPageTemplate(): string {
  const place = import.meta.url.endsWith('.ts') ? places[1] : places[0];
  const file = new URL(place ?? '', import.meta.url);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(
      'The report page is missing from this installation (report-page.html); npm run build makes it.',
      {
        cause,
      },
    );
  }
}
