import {
  type RequestTimeline,
  requestTimelineVersion,
  type TimelineRequest,
} from '../../report/plot/request-timeline.ts';
import { visibleText } from '../visible-text.ts';
import {
  type Bar,
  type BarKind,
  barColours,
  barLabels,
  barsOf,
  clockLabel,
  tickStepMs,
} from './timeline-bars.ts';

const rowHeight = 18;
const axisHeight = 24;
const labelWidth = 76;
const shortestSpanMs = 1;

function isTimeline(value: unknown): value is RequestTimeline {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === requestTimelineVersion
  );
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** What part of the run is in view. */
type View = { fromMs: number; toMs: number };

function draw(canvas: HTMLCanvasElement, timeline: RequestTimeline, view: View, top: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.scale(ratio, ratio);
  // Resolved colours: a canvas does not know what custom properties hold.
  const { color: text, outlineColor: line } = getComputedStyle(canvas);
  const x = (ms: number): number =>
    labelWidth + ((ms - view.fromMs) / (view.toMs - view.fromMs)) * (width - labelWidth);
  drawAxis(context, { x, view, width, height, text, line }, 'lines');
  drawRows(context, timeline, { x, view, top, width, height, text });
  drawAxis(context, { x, view, width, height, text, line }, 'labels');
}

function drawRows(
  context: CanvasRenderingContext2D,
  timeline: RequestTimeline,
  at: { x(ms: number): number; view: View; top: number; width: number; height: number; text: string },
): void {
  const first = Math.floor(at.top / rowHeight);
  const last = Math.min(timeline.requests.length - 1, Math.ceil((at.top + at.height) / rowHeight));
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (let row = first; row <= last; row += 1) {
    const request = timeline.requests[row];
    if (request === undefined) continue;
    const y = axisHeight + row * rowHeight - at.top;
    for (const bar of barsOf(request, timeline.thresholdsMs)) {
      if (bar.endMs < at.view.fromMs || bar.startMs > at.view.toMs) continue;
      const from = Math.max(labelWidth, at.x(bar.startMs));
      const to = Math.min(at.width, at.x(bar.endMs));
      context.fillStyle = barColours[bar.kind];
      // A hair of room between bars, where there is any.
      const room = to - from > 3 ? 0.5 : 0;
      context.fillRect(from, y + 2, Math.max(to - from - room, 0.4), rowHeight - 4);
    }
    context.clearRect(0, y, labelWidth, rowHeight);
    context.fillStyle = at.text;
    context.textAlign = 'right';
    context.fillText(`Req ${request.index}`, labelWidth - 8, y + rowHeight / 2);
  }
}

function drawAxis(
  context: CanvasRenderingContext2D,
  at: { x(ms: number): number; view: View; width: number; height: number; text: string; line: string },
  part: 'lines' | 'labels',
): void {
  if (part === 'labels') context.clearRect(0, 0, at.width, axisHeight);
  const most = Math.max(1, Math.floor((at.width - labelWidth) / 110));
  const step = tickStepMs(at.view.toMs - at.view.fromMs, most);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = part === 'lines' ? at.line : at.text;
  for (let ms = Math.ceil(at.view.fromMs / step) * step; ms <= at.view.toMs; ms += step) {
    const place = at.x(ms);
    if (part === 'lines') context.fillRect(place, axisHeight - 5, 1, at.height);
    else context.fillText(clockLabel(ms), Math.min(Math.max(place, labelWidth + 44), at.width - 46), 10);
  }
}

/** What stands under the pointer, in words. */
function described(request: TimelineRequest, bar: Bar, labels: Readonly<Record<BarKind, string>>): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)}s`;
  const tokens = request.promptTokens === null ? 'n/a' : String(request.promptTokens);
  return [
    `Req ${request.index}: ${labels[bar.kind]}`,
    `Start: ${clockLabel(bar.startMs)}`,
    `End: ${clockLabel(bar.endMs)}`,
    `Duration: ${seconds(bar.endMs - bar.startMs)}`,
    `Prompt tokens: ${tokens}`,
    `Output tokens: ${request.outputTokens}`,
    `Request start: ${clockLabel(request.startMs)}`,
    `Request end: ${clockLabel(request.startMs + request.latencyMs)}`,
  ].join('\n');
}

function legend(timeline: RequestTimeline): HTMLElement {
  const labels = barLabels(timeline.thresholdsMs);
  const kinds: readonly BarKind[] = ['ttft', 'fast', 'medium', 'slow'];
  const keys = kinds.map((kind) => {
    const swatch = element('i');
    swatch.style.background = barColours[kind];
    return element('span', { className: 'key' }, swatch, labels[kind]);
  });
  return element('div', { className: 'bar' }, ...keys);
}

function show(timeline: RequestTimeline, place: HTMLElement): void {
  const endMs = timeline.requests.reduce(
    (end, { startMs, latencyMs }) => Math.max(end, startMs + latencyMs),
    1,
  );
  const view: View = { fromMs: 0, toMs: endMs };
  const canvas = element('canvas', { tabIndex: 0 });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute(
    'aria-label',
    `Timeline of ${timeline.requests.length} requests; + and − zoom, arrows move`,
  );
  const spacer = element('div');
  const rows = element('div', { className: 'rows' }, canvas, spacer);
  const tip = element('div', { className: 'tip', hidden: true });
  tip.setAttribute('role', 'status');
  const redraw = (): void => {
    canvas.style.height = `${rows.clientHeight}px`;
    spacer.style.height = `${Math.max(0, axisHeight + timeline.requests.length * rowHeight - rows.clientHeight)}px`;
    draw(canvas, timeline, view, rows.scrollTop);
  };
  const look = (fromMs: number, toMs: number): void => {
    const span = Math.min(Math.max(toMs - fromMs, shortestSpanMs), endMs);
    view.fromMs = Math.min(Math.max(0, fromMs), endMs - span);
    view.toMs = view.fromMs + span;
    redraw();
  };
  const zoom = (factor: number, atMs = (view.fromMs + view.toMs) / 2): void =>
    look(atMs - (atMs - view.fromMs) * factor, atMs + (view.toMs - atMs) * factor);
  const move = (share: number): void => {
    const by = (view.toMs - view.fromMs) * share;
    look(view.fromMs + by, view.toMs + by);
  };
  const msAt = (clientX: number): number => {
    const { left, width } = canvas.getBoundingClientRect();
    const share = (clientX - left - labelWidth) / (width - labelWidth);
    return view.fromMs + share * (view.toMs - view.fromMs);
  };
  const button = (text: string, act: () => void): HTMLButtonElement => {
    const made = element('button', { type: 'button', textContent: text });
    made.addEventListener('click', act);
    return made;
  };

  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 || event.deltaX > 0 ? 1.25 : 0.8, msAt(event.clientX));
    },
    { passive: false },
  );
  let dragX: number | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    dragX = event.clientX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', () => {
    dragX = null;
  });
  canvas.addEventListener('pointermove', (event) => {
    if (dragX !== null) {
      move((dragX - event.clientX) / (canvas.clientWidth - labelWidth));
      dragX = event.clientX;
    }
    point(event);
  });
  canvas.addEventListener('pointerleave', () => {
    tip.hidden = true;
  });
  const labels = barLabels(timeline.thresholdsMs);
  const point = ({ clientX, clientY }: PointerEvent): void => {
    const y = clientY - canvas.getBoundingClientRect().top + rows.scrollTop - axisHeight;
    const request = timeline.requests[Math.floor(y / rowHeight)];
    const ms = msAt(clientX);
    const bar =
      request &&
      barsOf(request, timeline.thresholdsMs).find(({ startMs, endMs: end }) => ms >= startMs && ms <= end);
    tip.hidden = bar === undefined || request === undefined;
    if (bar === undefined || request === undefined) return;
    tip.textContent = described(request, bar, labels);
    tip.style.left = `${Math.min(clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  };
  canvas.addEventListener('keydown', ({ key }) => {
    if (key === '+' || key === '=') zoom(0.8);
    else if (key === '-') zoom(1.25);
    else if (key === 'ArrowLeft') move(-0.1);
    else if (key === 'ArrowRight') move(0.1);
    else if (key === '0') look(0, endMs);
  });
  rows.addEventListener('scroll', redraw);
  addEventListener('resize', redraw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

  const left = timeline.total - timeline.requests.length;
  place.replaceChildren(
    element(
      'main',
      {},
      element('h1', { textContent: `Request timeline: ${visibleText(timeline.model)}` }),
      element('p', {
        textContent:
          `${timeline.requests.length} requests` +
          (left > 0
            ? ` of ${timeline.total}: every ${Math.ceil(timeline.total / timeline.requests.length)}th is shown`
            : '') +
          `. Time since the first was sent (${timeline.startedAt}). Drag to move, Shift and wheel to zoom.`,
      }),
      legend(timeline),
      element(
        'div',
        { className: 'bar' },
        button('Zoom in', () => zoom(0.5)),
        button('Zoom out', () => zoom(2)),
        button('Earlier', () => move(-0.25)),
        button('Later', () => move(0.25)),
        button('Whole run', () => look(0, endMs)),
      ),
      rows,
      tip,
    ),
  );
  redraw();
}

const place = document.getElementById('page');
const data: unknown = JSON.parse(document.getElementById('report-data')?.textContent ?? '');
if (place !== null && isTimeline(data)) show(data, place);
