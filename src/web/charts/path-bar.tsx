import type { JSX } from 'preact';
import type { StepKind } from '../../report/html/report-model.ts';
import { exactQuantity, formatNumber, formatQuantity } from '../format.ts';
import { visibleText } from '../visible-text.ts';

export type PathBarStep = { readonly kind: StepKind; readonly name: string; readonly ms: number };

/** Steps one after the other as shares of their sum. */
export function PathBar({
  label,
  steps,
}: {
  label: string;
  steps: readonly PathBarStep[];
}): JSX.Element | null {
  const totalMs = steps.reduce((sum, { ms }) => sum + ms, 0);
  if (totalMs <= 0) return null;
  const coloured = withShades(steps);
  return (
    <div class="path">
      <div
        class="path-bar"
        role="img"
        aria-label={`${label}: ${steps.map(({ name, ms }) => `${visibleText(name)} ${formatQuantity(ms, 'ms')}`).join(', ')}`}
      >
        {coloured.map(({ name, ms, look }) => (
          <span
            key={name}
            class={look}
            style={{ flexGrow: ms / totalMs }}
            title={`${visibleText(name)}: ${exactQuantity(ms, 'ms')}`}
          />
        ))}
      </div>
      <ol class="path-key">
        {coloured.map(({ name, ms, look }) => (
          <li key={name}>
            <i class={`swatch ${look}`} />
            <bdi>{visibleText(name)}</bdi> <b title={exactQuantity(ms, 'ms')}>{formatQuantity(ms, 'ms')}</b>{' '}
            <span class="muted">{formatNumber((ms / totalMs) * 100)} %</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

const shades = 4;

/** Neighbours of one kind differ in shade. */
function withShades(steps: readonly PathBarStep[]): (PathBarStep & { readonly look: string })[] {
  const seen = new Map<StepKind, number>();
  return steps.map((step) => {
    const count = seen.get(step.kind) ?? 0;
    seen.set(step.kind, count + 1);
    return { ...step, look: `step ${step.kind} shade${count % shades}` };
  });
}
