import type { JSX } from 'preact';
import type { Excerpt } from '../report/html/report-model.ts';
import { formatNumber } from './format.ts';
import { visibleText } from './visible-text.ts';

/** A text that came from a server, a file or a flag: shown as text, apart from its surroundings, with nothing hidden. */
export function Foreign({ text }: { text: string }): JSX.Element {
  return <bdi class="foreign">{visibleText(text)}</bdi>;
}

/** The same for many lines. */
export function ForeignBlock({ of, label }: { of: Excerpt; label: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="block" aria-label={label} tabIndex={0}>
      <pre class="foreign" dir="auto">
        {visibleText(of.text)}
        {of.more > 0 ? (
          <span class="muted">{` … ${formatNumber(of.more, 'count')} more characters are not shown`}</span>
        ) : null}
      </pre>
    </section>
  );
}
