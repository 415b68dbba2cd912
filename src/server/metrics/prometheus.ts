/** Labels of a sample, in the order in which they are written. */
export type Labels = Readonly<Record<string, string>>;

/** One metric with all its labelled samples, in the text format of Prometheus. */
export type MetricFamily = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Lines of the samples so far. */
  samples(): string[];
};

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Only rises. */
export class Counter implements MetricFamily {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(labels: Labels, amount = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount);
  }

  samples(): string[] {
    return [...this.#values].map(([labels, value]) => `${this.name}${labels} ${value}`);
  }
}

/** Read when it is asked for. */
export class Gauge implements MetricFamily {
  readonly type = 'gauge';
  readonly name: string;
  readonly help: string;
  readonly #read: () => readonly (readonly [Labels, number])[];

  constructor(name: string, help: string, read: () => readonly (readonly [Labels, number])[]) {
    this.name = name;
    this.help = help;
    this.#read = read;
  }

  samples(): string[] {
    return this.#read().map(([labels, value]) => `${this.name}${labelText(labels)} ${value}`);
  }
}

type Series = { readonly labels: Labels; readonly counts: number[]; sum: number; total: number };

/** Counts observations up to each of some bounds. */
export class Histogram implements MetricFamily {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /** @param bounds rising; `+Inf` follows by itself */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const key = labelText(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, counts: this.#bounds.map(() => 0), sum: 0, total: 0 };
      this.#series.set(key, series);
    }
    series.sum += value;
    series.total += 1;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) series.counts[at] = (series.counts[at] ?? 0) + 1;
  }

  samples(): string[] {
    return [...this.#series.values()].flatMap(({ labels, counts, sum, total }) => {
      let below = 0;
      const buckets = this.#bounds.map((bound, at) => {
        below += counts[at] ?? 0;
        return `${this.name}_bucket${labelText({ ...labels, le: String(bound) })} ${below}`;
      });
      return [
        ...buckets,
        `${this.name}_bucket${labelText({ ...labels, le: '+Inf' })} ${total}`,
        `${this.name}_sum${labelText(labels)} ${sum}`,
        `${this.name}_count${labelText(labels)} ${total}`,
      ];
    });
  }
}

/** `Content-Type` of {@link exposition}. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Families in the text format of Prometheus, version 0.0.4. */
export function exposition(families: readonly MetricFamily[]): string {
  const lines = families.flatMap((family) => [
    `# HELP ${family.name} ${family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${family.name} ${family.type}`,
    ...family.samples(),
  ]);
  return `${lines.join('\n')}\n`;
}
