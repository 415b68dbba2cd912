import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RequestDetail } from '../../report/html/report-model.ts';
import { exactQuantity } from '../format.ts';
import { linearScale } from '../scales.ts';
import { visibleText } from '../visible-text.ts';
import { ChartFrame, XAxis } from './chart-frame.tsx';

const rowHeight = 24;

/** What happened to one request, a bar each, from the moment it was due. */
export function Waterfall({
  spans,
  request,
}: {
  spans: RequestDetail['spans'];
  request: number;
}): JSX.Element {
  const [index, setIndex] = useState<number | null>(null);
  const endMs = Math.max(...spans.map((span) => span.endMs), 0.001);
  const unit = endMs >= 10_000 ? 's' : 'ms';
  const per = unit === 's' ? 1000 : 1;
  const describe = (i: number): string => {
    const span = spans[i];
    if (!span) return 'nothing';
    const first = span.firstMs === null ? '' : `, first at ${exactQuantity(span.firstMs, 'ms')}`;
    const note = span.note === null ? '' : ` (${visibleText(span.note)})`;
    return `${visibleText(span.name)}: ${exactQuantity(span.startMs, 'ms')} to ${exactQuantity(span.endMs, 'ms')}, ${exactQuantity(span.endMs - span.startMs, 'ms')}${first}${note}`;
  };
  const height = spans.length * rowHeight + 34;
  return (
    <figure>
      <ChartFrame
        label={`Waterfall of request ${request}`}
        height={height}
        margins={{ top: 4, right: 14, bottom: 30, left: 122 }}
      >
        {(plot) => {
          const x = linearScale([0, endMs / per], [plot.left, plot.right], plot.width < 500 ? 4 : 8);
          return (
            <>
              {x.ticks.map((tick) => (
                <line
                  key={tick}
                  class="grid"
                  x1={x.at(tick)}
                  x2={x.at(tick)}
                  y1={plot.top}
                  y2={plot.bottom}
                />
              ))}
              {spans.map((span, i) => {
                const y = plot.top + i * rowHeight;
                const left = x.at(span.startMs / per);
                const width = Math.max(x.at(span.endMs / per) - left, 1.5);
                return (
                  // The pointer's convenience: the same stands in the table of spans below.
                  <g
                    key={`${i}${span.name}`}
                    class={index === i ? 'span on' : 'span'}
                    onPointerEnter={() => setIndex(i)}
                    onPointerLeave={() => setIndex(null)}
                  >
                    <rect class="hit" x={0} y={y} width={plot.width} height={rowHeight} />
                    <text x={plot.left - 10} y={y + rowHeight / 2} dy="0.32em" text-anchor="end">
                      {shortened(visibleText(span.name))}
                    </text>
                    <rect
                      class={`kind ${span.kind}`}
                      x={left}
                      y={y + 5}
                      width={width}
                      height={rowHeight - 10}
                      rx="2"
                    />
                    {span.firstMs !== null && span.firstMs > span.startMs ? (
                      <line
                        class="first"
                        x1={x.at(span.firstMs / per)}
                        x2={x.at(span.firstMs / per)}
                        y1={y + 3}
                        y2={y + rowHeight - 3}
                      />
                    ) : null}
                    <title>{`${exactQuantity(span.startMs, 'ms')} to ${exactQuantity(span.endMs, 'ms')}`}</title>
                  </g>
                );
              })}
              <XAxis scale={x} plot={plot} unit={unit} />
            </>
          );
        }}
      </ChartFrame>
      <figcaption aria-hidden="true">
        {index === null
          ? `In ${unit} since the request was due. A tick in a bar is its first output, or the reply’s headers.`
          : describe(index)}
      </figcaption>
      <div class="visually-hidden">
        <table>
          <caption>Spans of request {request}</caption>
          <tbody>
            {spans.map((span, i) => (
              <tr key={`${i}${span.name}`}>
                <td>{describe(i)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function shortened(name: string): string {
  return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}
