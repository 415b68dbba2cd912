/**
 * The rooms of the house and the rooms each may import. A room on a floor may import rooms on lower floors only.
 * The server stands apart: it shares the contract (protocol) and tools (foundation, media, tokens) with the
 * client and no behaviour, so that each can be the other's oracle.
 */
const floors = [
  ['foundation'],
  ['protocol', 'media', 'tokens'],
  ['workloads', 'schedule', 'transport', 'records'],
  ['endpoints', 'metrics'],
  ['drive', 'accuracy', 'report'],
  ['bench'],
  ['cli'],
];
const allowed = new Map();
for (const [level, rooms] of floors.entries()) {
  for (const room of rooms) allowed.set(room, floors.slice(0, level).flat());
}
allowed.set('server', floors.slice(0, 2).flat());
allowed.get('cli').push('server');
// The page knows the data that is made for it, and nothing else of ours.
allowed.set('web', ['report/html/report-model.ts', 'report/plot/request-timeline.ts']);
/** Rooms that may not see each other although their floors would allow it. */
const walls = [
  {
    from: 'metrics',
    to: 'transport',
    why: 'A metric is a pure function of records; it never asks the network.',
  },
  {
    from: 'metrics',
    to: 'workloads',
    why: 'A metric is a pure function of records; what was asked stands in the record.',
  },
  {
    from: 'report',
    to: 'transport',
    why: 'A report is a pure function of a summary; it never asks the network.',
  },
  { from: 'report', to: 'workloads', why: 'A report is a pure function of a summary.' },
  { from: 'report', to: 'endpoints', why: 'Which endpoint produced a record is data, not an import.' },
  { from: 'endpoints', to: 'schedule', why: 'An endpoint knows nothing of when it is called.' },
  { from: 'drive', to: 'metrics', why: 'The load engine does not know which metric will be asked for.' },
];

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment:
        'A cycle means that two files hold one idea, or that a type sits too high. Merge them or move the type down.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'Nobody imports this file. Delete it, or wire it in.',
      from: {
        orphan: true,
        pathNot: [
          '\\.test\\.ts$',
          'src/cli/main\\.ts$',
          'src/web/main\\.tsx$',
          'src/web/request-timeline/timeline-page\\.ts$',
          '-thread\\.ts$',
          '\\.d\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'not-to-test',
      severity: 'error',
      comment: 'Production code never imports tests.',
      from: { pathNot: '\\.(test|suite)\\.ts$' },
      to: { path: '\\.(test|suite)\\.ts$' },
    },
    ...[...allowed].map(([room, rooms]) => ({
      name: `floors-${room}`,
      severity: 'error',
      comment: `${room}/ may import only: ${rooms.join(', ') || 'nothing of ours'}. Data flows one way; move the shared idea to a lower floor, or pass it in as an argument.`,
      from: { path: `^src/${room}/`, pathNot: '\\.(test|suite)\\.ts$' },
      to: {
        path: '^src/',
        pathNot: [room, ...rooms].map((name) => (name.endsWith('.ts') ? `^src/${name}$` : `^src/${name}/`)),
      },
    })),
    ...walls.map(({ from, to, why }) => ({
      name: `wall-${from}-${to}`,
      severity: 'error',
      comment: why,
      from: { path: `^src/${from}/`, pathNot: '\\.(test|suite)\\.ts$' },
      to: { path: `^src/${to}/` },
    })),
    {
      name: 'server-knows-no-client',
      severity: 'error',
      comment: 'Client and server share no behaviour.',
      from: { path: '^src/server/', pathNot: '\\.(test|suite)\\.ts$' },
      to: { path: '^src/(workloads|schedule|transport|records|endpoints|metrics|drive|report|bench|cli)/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
