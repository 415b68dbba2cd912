import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { summarize } from '../../src/metrics/summarize.ts';
import { hostileRun, textRun } from '../../src/report/html/html-runs.suite.ts';
import { readPageTemplate } from '../../src/report/html/page-template.ts';
import { filledPage } from '../../src/report/html/render-html-report.ts';
import { requestTimeline } from '../../src/report/plot/request-timeline.ts';
import { chromiumPath, noChromium } from './report-browser.ts';

if (chromiumPath === null) console.warn(`skipped: ${noChromium}`);

describe.skipIf(chromiumPath === null)('the page of --plot-timeline', () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'omnimeter-timeline-'));
    browser = await chromium.launch({
      executablePath: chromiumPath ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const open = async (
    { records, facts }: ReturnType<typeof textRun>,
    colorScheme: 'light' | 'dark' = 'light',
  ) => {
    const timeline = requestTimeline(summarize(records, facts), [25, 50]);
    const file = join(folder, 'run.timeline.html');
    writeFileSync(file, filledPage(readPageTemplate('timeline-page.html'), 'Timeline', timeline));
    const page = await (await browser.newContext({ colorScheme })).newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
        problems.push(request.url());
    });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('canvas');
    return { page, problems };
  };

  /** Colours that stand on the canvas, as `r,g,b`. */
  const colours = `[...new Set((() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const found = [];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.push(data[i] + ',' + data[i + 1] + ',' + data[i + 2]);
    return found;
  })())]`;

  test.each(['light', 'dark'] as const)(
    'draws bars and labels, and says what is pointed at (%s)',
    async (scheme) => {
      const { page, problems } = await open(textRun(), scheme);
      const seen: string[] = await page.evaluate(colours);
      // TTFT, and the text of labels: dark on light, light on dark.
      expect(seen).toContain('99,110,250');
      expect(seen).toContain(scheme === 'light' ? '23,28,34' : '228,233,238');
      const box = await page.locator('canvas').boundingBox();
      await page.mouse.move((box?.x ?? 0) + 78, (box?.y ?? 0) + 24 + 9);
      const tip = await page.locator('.tip').textContent();
      expect(tip).toMatch(
        /^Req 0: TTFT\nStart: 00:00:00\.000\nEnd: .*\nDuration: 0\.\d{3}s\nPrompt tokens: \d+\n/,
      );
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.getByRole('button', { name: 'Whole run' }).click();
      expect(problems).toEqual([]);
      await page.evaluate(axe.source);
      const faults = await page.evaluate(
        `axe.run(document).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id))`,
      );
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test('a hostile run does nothing', async () => {
    const { page, problems } = await open(hostileRun());
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(problems).toEqual([]);
    await page.close();
  });
});
