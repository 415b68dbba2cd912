import { describe, expect, it } from 'vitest';
import { summarize } from '../metrics/summarize.ts';
import {
  bagelPrintStage,
  heliosVideos,
  hunyuanImage3,
  qwenImageGenerations,
} from './golden-pictures.suite.ts';
import {
  type GoldenRun,
  goldenText,
  qwen3OmniPrintStage,
  qwen3OmniStagesCliGuide,
  randomMmTextOnly,
  randomTextAudio,
  sharegptTextAudio,
} from './golden-runs.suite.ts';
import { renderTerminalReport } from './terminal-report.ts';

/** Where a published report differs from ours, which follows the newest version of the original. */
type Difference =
  /** A line that the file lacks. */
  | { readonly kind: 'added'; readonly after: string; readonly line: string }
  /** Lines that only the file has. */
  | { readonly kind: 'dropped'; readonly from: string; readonly lines: number }
  /** A label of an earlier version, in one stage. */
  | { readonly kind: 'renamed'; readonly within: string; readonly theirs: string; readonly ours: string }
  /** The file holds only what follows this title of ours. */
  | { readonly kind: 'part'; readonly from: string }
  /** A title that an earlier version wrote in another way, where it stands first. */
  | { readonly kind: 'retitled'; readonly theirs: string; readonly ours: string }
  | { readonly kind: 'closing-line-missing' };

const continuity: Difference = {
  kind: 'added',
  after: 'Audio throughput(audio duration/s):',
  line: 'Streaming continuity OK rate:            100.00%',
};

/** The serving part's title had no blanks around it before vLLM-Omni PR #4728; the stage part's still has none. */
const imageTitle: Difference = {
  kind: 'retitled',
  theirs: '-----------------Image Generation-----------------',
  ours: '---------------- Image Generation ----------------',
};

const goldens: readonly {
  readonly name: string;
  readonly run: () => GoldenRun;
  readonly differences: readonly Difference[];
}[] = [
  { name: 'sharegpt-text-audio', run: sharegptTextAudio, differences: [continuity] },
  { name: 'random-text-audio-ttfp-rtf', run: randomTextAudio, differences: [continuity] },
  {
    name: 'random-mm-text-only',
    run: randomMmTextOnly,
    // An audio section of zeros for a run without audio.
    differences: [{ kind: 'dropped', from: '================== Audio Result ==================', lines: 4 }],
  },
  { name: 'qwen3-omni-print-stage', run: qwen3OmniPrintStage, differences: [] },
  {
    name: 'qwen-image-generations',
    run: () => qwenImageGenerations('qwen-image-generations'),
    differences: [],
  },
  {
    name: 'qwen-image-generations-pr4728',
    run: () => qwenImageGenerations('qwen-image-generations-pr4728'),
    differences: [],
  },
  { name: 'helios-videos', run: heliosVideos, differences: [] },
  { name: 'bagel-print-stage', run: bagelPrintStage, differences: [imageTitle] },
  { name: 'hunyuan-image3', run: () => hunyuanImage3(184.95, false), differences: [imageTitle] },
  { name: 'hunyuan-image3-print-stage', run: () => hunyuanImage3(185.15, true), differences: [imageTitle] },
  {
    name: 'qwen3-omni-stages-cli-guide',
    run: qwen3OmniStagesCliGuide,
    // Its native TTFT is missing too, which the snapshots of that version did not have.
    differences: [
      { kind: 'part', from: '============= Stage Benchmark Result =============' },
      { kind: 'renamed', within: 'Stage 0 (thinker)', theirs: ' TPOP ', ours: ' TPOT ' },
      { kind: 'closing-line-missing' },
    ],
  },
];

/** The file's lines as ours should be. */
function expectedLines(file: readonly string[], differences: readonly Difference[]): string[] {
  return differences.reduce<string[]>((lines, difference) => applied(lines, difference), [...file]);
}

function applied(lines: string[], difference: Difference): string[] {
  const at = (start: string): number => {
    const found = lines.findIndex((line) => line.startsWith(start));
    if (found < 0) throw new Error(`the file has no line ${start}`);
    return found;
  };
  switch (difference.kind) {
    case 'added':
      return lines.toSpliced(at(difference.after) + 1, 0, difference.line);
    case 'dropped':
      return lines.toSpliced(at(difference.from), difference.lines);
    case 'renamed': {
      let title = '';
      return lines.map((line) => {
        if (line.includes(' Stage ')) title = line;
        return title.includes(difference.within) ? line.replace(difference.theirs, difference.ours) : line;
      });
    }
    case 'retitled':
      return lines.toSpliced(at(difference.theirs), 1, difference.ours);
    case 'closing-line-missing':
      return [...lines, '='.repeat(50)];
    case 'part':
      return lines;
  }
}

describe('published reports', () => {
  it.each(goldens)('prints $name', ({ name, run, differences }) => {
    const { records, facts } = run();
    const printed = renderTerminalReport(summarize(records, facts));
    const part = differences.find((difference) => difference.kind === 'part');
    const ours = part ? printed.slice(printed.indexOf(part.from)) : printed;
    const file = goldenText(name).replace(/\n$/, '').split('\n');
    expect(ours.map((line) => line.trimEnd())).toEqual(expectedLines(file, differences));
  });

  it('pads every value to ten columns', () => {
    const { records, facts } = randomMmTextOnly();
    const rows = renderTerminalReport(summarize(records, facts)).filter((line) => line.includes(':'));
    expect(rows.map((line) => line.length)).toEqual(rows.map(() => 51));
  });
});
