import { environmentName, type Flag, type FlagTable } from './flags/flag.ts';
import { defaultOf, type HelpPage, signatureOf } from './flags/help.ts';

/** Vertical bars end a table's cell, and `<` begins a tag. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function row(name: string, flag: Flag): string {
  const spellings = [
    `\`${signatureOf(name, flag)}\``,
    ...(flag.aliases ?? []).map((alias) => `\`${alias}\``),
  ];
  const fallback = defaultOf(flag);
  return `| ${spellings.map(cell).join(', ')} | ${fallback === '' ? '' : cell(fallback)} | ${cell(flag.doc)} |`;
}

function groupTable(title: string, flags: readonly (readonly [string, Flag])[]): string {
  const rows = flags.map(([name, flag]) => row(name, flag));
  return [`### ${title}`, '', '| flag | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

/** Flags without effect, one line for each thing that they belong to. */
function effectless(table: FlagTable): string {
  const byOwner = new Map<string, string[]>();
  for (const [name, { belongsTo }] of Object.entries(table)) {
    if (belongsTo === undefined) continue;
    byOwner.set(belongsTo, [...(byOwner.get(belongsTo) ?? []), `\`--${name}\``]);
  }
  if (byOwner.size === 0) return '';
  const lines = [...byOwner].map(([owner, names]) => `- ${owner}: ${names.join(' ')}`);
  return [
    '### Accepted without effect',
    '',
    'Known by name, checked, and said to do nothing.',
    '',
    ...lines,
    '',
  ].join('\n');
}

function valuesOf(page: HelpPage): string {
  const lists = Object.entries(page.values ?? {}).map(([flag, values]) => {
    const lines = values.map(({ name, doc }) => `- \`${name}\`${doc === '' ? '' : `: ${doc}`}`);
    return [`### Values of \`--${flag}\``, '', ...lines, ''].join('\n');
  });
  return lists.join('\n');
}

function pageDoc(page: HelpPage): string {
  const groups = new Map<string, [string, Flag][]>();
  for (const [name, flag] of Object.entries(page.table)) {
    if (flag.hidden || flag.belongsTo !== undefined) continue;
    groups.set(flag.group, [...(groups.get(flag.group) ?? []), [name, flag]]);
  }
  const tables = [...groups].map(([title, flags]) => groupTable(title, flags));
  const title = page.usage.split(/ (?=[[A-Z])/)[0];
  return [
    `## omnimeter ${title}`,
    '',
    `\`omnimeter ${page.usage}\``,
    '',
    page.summary,
    '',
    ...tables,
    valuesOf(page),
    effectless(page.table),
  ].join('\n');
}

/** The page docs/cli.md, from the tables that the program itself parses with. */
export function renderCliDoc(pages: readonly HelpPage[]): string {
  const text = [
    '# Command line',
    '',
    'Generated from the flag tables in `src/cli/flags` by `npm run docs`; do not edit.',
    '',
    'How flags are written: `_` and `-` are the same in names. `--flag value` and `--flag=value` are the same, and',
    '`--no-flag` turns a switch off. Members of a JSON flag can be given one by one (`--extra-body.temperature 0.3`);',
    '`--flag+` adds to a list. Names are never completed. The last use of a flag wins, and members are merged over the',
    'last whole object.',
    '',
    'Where values come from: defaults &lt; `--config` file &lt; environment &lt; command line. The environment variable of a',
    `flag is its name in capitals after \`OMNIMETER_\`, e.g. \`${environmentName('request-rate')}\`.`,
    '',
    'Help: `--help` shows the common flags, `--help=all` every flag, `--help=GROUP` a group, `--help=FLAG` one flag.',
    '',
    ...pages.map(pageDoc),
  ].join('\n');
  return `${text.replace(/\n{3,}/g, '\n\n').trimEnd()}\n`;
}
