import type { JSX } from 'preact';
import type { Fact } from '../report/html/report-model.ts';
import { Foreign } from './foreign-text.tsx';
import { exactQuantity, formatQuantity } from './format.ts';

/** Names and values. */
export function Facts({ of }: { of: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {of.map(({ name, value, unit, doc }) => (
        <div key={name} title={doc === '' ? undefined : doc}>
          <dt>
            <Foreign text={name} />
          </dt>
          <dd title={typeof value === 'number' ? exactQuantity(value, unit) : undefined}>
            {typeof value === 'number' ? formatQuantity(value, unit) : <Foreign text={value} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
