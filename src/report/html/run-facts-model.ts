import type { RunSummary } from '../../metrics/summary.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import { fact } from './compact.ts';
import type { Fact, FactGroup } from './report-model.ts';

/** How the numbers were got: what the load engine saw of itself. */
export function methodFacts({ self }: RunFacts): Fact[] {
  if (!self) return [];
  const ms = (doc: string) => ({ unit: 'ms', doc });
  const lag = 'From the moment at which a request was due and had a free slot until it was sent.';
  const loop = 'How late the event loop of the worst load thread ran; timestamps can be late by as much.';
  return [
    ...fact('Send lag, median', self.sendLagP50Ms, ms(lag)),
    ...fact('Send lag, p99', self.sendLagP99Ms, ms(lag)),
    ...fact('Send lag, most', self.sendLagMaxMs, ms(lag)),
    ...fact('Loop delay, p99', self.loopDelayP99Ms, ms(loop)),
    ...fact('Loop delay, most', self.loopDelayMaxMs, ms(loop)),
    ...fact(
      'Busiest load thread',
      self.loopUtilizationRatio === null ? null : self.loopUtilizationRatio * 100,
      {
        unit: '%',
        doc: 'Share of the run that its event loop was at work; near 100 % the client is the limit.',
      },
    ),
    ...fact('Client CPU', self.cpuS, { unit: 's', doc: 'User and system time of the whole client process.' }),
    ...fact('Garbage collection', self.gcPauseMs, ms('Pauses of the load threads in all.')),
    ...fact('Load threads', self.loadThreads),
    ...fact('Connections opened', self.connectionsOpened),
    ...fact('Connections reused', self.connectionsReused),
    ...fact('Most requests under way', self.maxInFlight),
    ...fact('Transport', self.transport),
    ...fact('Arrival clock', self.arrivalClock),
  ];
}

/** The requests that ran beside the load. */
export function probeFacts({ probe }: RunSummary): Fact[] {
  if (!probe) return [];
  return [
    ...fact('Probes answered', probe.completed),
    ...fact('Probes failed', probe.failed),
    ...fact('Median latency', probe.medianE2elMs, { unit: 'ms' }),
    ...fact('P99 latency', probe.p99E2elMs, { unit: 'ms' }),
    ...fact('Longest latency', probe.maxE2elMs, { unit: 'ms' }),
  ];
}

/** What was asked for, and where it ran. */
export function configurationOf(run: RunFacts): FactGroup[] {
  const groups: FactGroup[] = [
    {
      title: 'Target',
      facts: [
        ...fact('Model', run.modelId),
        ...fact('Served model name', run.servedModelName),
        ...fact('URL', run.url),
        ...fact('Endpoint', run.endpoint.name),
        ...fact('Inter-token latency', run.endpoint.itl === 'token_split' ? 'per token' : 'per chunk'),
        ...fact('Tokenizer', run.tokenizerId ?? 'none'),
        ...fact('Temperature', run.temperature ?? 'the server’s default'),
      ],
    },
    {
      title: 'Load',
      facts: [
        ...fact('Dataset', run.dataset),
        ...fact('Requests', run.numPrompts),
        ...fact('Request rate', run.requestRate ?? 'all at once', { unit: 'requests/s' }),
        ...fact('Burstiness', run.burstiness ?? 'constant gaps'),
        ...fact('Maximum concurrency', run.maxConcurrency ?? 'none'),
        ...fact(
          'Ramp',
          run.rampUp && `${run.rampUp.strategy}, ${run.rampUp.startRps} to ${run.rampUp.endRps} requests/s`,
        ),
        ...fact('Seed', run.seed),
        ...fact(
          'Objectives',
          Object.entries(run.goodput)
            .map(([key, limit]) => `${key} ≤ ${limit}`)
            .join(', '),
        ),
        ...fact('Continuity threshold', run.continuityThresholdS, { unit: 's' }),
      ],
    },
    { title: 'Labels', facts: labelFacts(run) },
    { title: 'Environment', facts: environmentFacts(run) },
  ];
  return groups.filter(({ facts }) => facts.length > 0);
}

const mostLabels = 100;

function labelFacts({ label, metadata }: RunFacts): Fact[] {
  const entries = Object.entries(metadata).slice(0, mostLabels);
  return [...fact('Label', label), ...entries.flatMap(([name, value]) => fact(name.slice(0, 80), value))];
}

function environmentFacts({ omnimeterVersion, startedAt, environment }: RunFacts): Fact[] {
  return [
    ...fact('Omnimeter', omnimeterVersion),
    ...fact('Started', startedAt),
    ...fact('Node.js', environment?.nodeVersion),
    ...fact('System', environment && `${environment.platform} ${environment.architecture}`),
    ...fact('CPU', environment?.cpuModel),
    ...fact('Cores', environment?.cpuCount),
    ...fact('Memory', environment && environment.memoryBytes / 2 ** 30, { unit: 'GiB' }),
  ];
}
