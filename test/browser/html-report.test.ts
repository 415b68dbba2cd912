import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ExampleRun,
  failedRun,
  hostileRun,
  hugeRun,
  imageRun,
  spokenRun,
  textRun,
  videoRun,
} from '../../src/report/html/html-runs.suite.ts';
import { chromiumPath, noChromium, type OpenReport, ReportBrowser } from './report-browser.ts';

type AxeFault = { id: string; impact: string | null; nodes: string[] };

/** Faults that keep people out. */
async function seriousFaults(page: Page): Promise<AxeFault[]> {
  await page.evaluate(axe.source);
  // Given as text: it runs in the page, whose types are not ours.
  const faults: AxeFault[] = await page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html.slice(0, 200)) })))`);
  return faults.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/** The numbers of a column of the request table, by its header. */
async function columnOf(page: Page, header: string): Promise<string[]> {
  const table = page.getByRole('region', { name: 'Table of requests' }).locator('table');
  const names = await table.locator('thead th').allInnerTexts();
  const index = names.findIndex((name) => name.trim().startsWith(header));
  expect(index, `${header} among ${names.join()}`).toBeGreaterThanOrEqual(0);
  return await table.locator(`tbody tr td:nth-child(${index + 1})`).allInnerTexts();
}

const numbers = (texts: readonly string[]): number[] => texts.map((text) => Number(text.replaceAll(',', '')));

describe.skipIf(chromiumPath === null)(
  `the HTML report in a browser${chromiumPath ? '' : `: ${noChromium}`}`,
  () => {
    let browser: ReportBrowser;
    beforeAll(async () => {
      browser = await ReportBrowser.start(chromiumPath ?? '');
    });
    afterAll(() => browser?.close());

    /** Opens, checks what holds of every page, and closes. */
    async function withReport(run: ExampleRun, use: (report: OpenReport) => Promise<void>): Promise<void> {
      const report = await browser.open(run);
      try {
        await use(report);
        expect(report.problems).toEqual([]);
      } finally {
        await report.close();
      }
    }

    const runs: readonly [name: string, run: () => ExampleRun, shows: readonly string[]][] = [
      ['text', textRun, ['Time to First Token', 'Critical path', 'Inter-token Latency']],
      [
        'text and speech with stages',
        spokenRun,
        ['thinker', 'talker', 'code2wav', 'Playback buffer', 'underrun'],
      ],
      ['images', imageRun, ['Image Generation', 'Total images generated', 'stage_1_gen_ms']],
      ['videos', videoRun, ['Video RTF', 'Video Generation', 'more exchanges']],
      [
        'failures alone',
        failedRun,
        [
          'All requests failed',
          'HTTP 503 Service Unavailable',
          '{"error":"busy"}',
          'the connection was reset',
        ],
      ],
      [
        'a hundred thousand requests',
        hugeRun,
        ['The page holds', 'of 100,000 requests', 'at random', 'Send lag'],
      ],
    ];

    describe.each(runs)('of %s', (_, run, shows) => {
      it('shows what it is about, without a fault, a request or a hole', { timeout: 120_000 }, async () => {
        await withReport(run(), async ({ page, bytes }) => {
          const text = await page.locator('main').textContent();
          for (const wanted of shows) expect(text).toContain(wanted);
          expect(await page.locator('html').getAttribute('lang')).toBe('en');
          expect(await page.locator('main').count()).toBe(1);
          const html = await page.locator('#page').innerHTML();
          expect(html).not.toMatch(/NaN|undefined|Infinity|\[object/);
          expect(bytes).toBeLessThan(2_000_000);
          expect(await seriousFaults(page)).toEqual([]);
        });
      });
    });

    it.each(['light', 'dark'] as const)(
      'has no serious fault in the %s theme, and on a phone no overflow',
      async (theme) => {
        const report = await browser.open(spokenRun(), {
          viewport: { width: 390, height: 844 },
          colorScheme: theme,
        });
        expect(await seriousFaults(report.page)).toEqual([]);
        const overflow: number = await report.page.evaluate(
          'document.documentElement.scrollWidth - innerWidth',
        );
        expect(overflow).toBeLessThanOrEqual(0);
        expect(report.problems).toEqual([]);
        await report.close();
      },
    );

    it('draws its data: bars that add up, courses, spans, silence where playback ran dry', async () => {
      await withReport(spokenRun(), async ({ page }) => {
        const bars = page.getByRole('img', { name: 'Histogram of Time to First Token' }).locator('rect.bar');
        const heights: number[] = await bars.evaluateAll((all) =>
          all.map((bar) => Number(bar.getAttribute('height'))),
        );
        expect(heights.filter((height) => height > 0).length).toBeGreaterThan(10);
        const courses = page.locator('#timeline path.line');
        expect(await courses.count()).toBeGreaterThanOrEqual(5);
        for (const course of await courses.all())
          expect((await course.getAttribute('d'))?.length).toBeGreaterThan(50);
        await page.getByLabel('Search').fill('0');
        await page.getByRole('button', { name: 'Open request 0', exact: true }).click();
        const closeUp = page.getByRole('region', { name: 'Request 0', exact: true });
        expect(
          await closeUp.getByRole('img', { name: 'Waterfall of request 0' }).locator('rect.kind').count(),
        ).toBe(6);
        expect(await closeUp.locator('rect.gap').count()).toBe(1);
        expect(await closeUp.textContent()).toContain('1 underrun');
        await page.getByLabel('Percentiles', { exact: true }).check();
        expect(
          await page
            .getByRole('img', { name: 'Percentiles of Time to First Packet' })
            .locator('polyline')
            .count(),
        ).toBe(1);
      });
    });

    it('sorts its tables both ways, and pages and searches the requests', async () => {
      await withReport(textRun(120), async ({ page }) => {
        const table = page.getByRole('region', { name: 'Table of requests' });
        const header = table.getByRole('columnheader', { name: /^TTFT/ });
        await header.getByRole('button').click();
        expect(await header.getAttribute('aria-sort')).toBe('descending');
        // Request i has its first token after 20 + i ms.
        expect(numbers(await columnOf(page, 'TTFT')).slice(0, 3)).toEqual([139, 138, 137]);
        await header.getByRole('button').click();
        expect(await header.getAttribute('aria-sort')).toBe('ascending');
        expect(numbers(await columnOf(page, 'TTFT')).slice(0, 3)).toEqual([20, 21, 22]);
        expect(await columnOf(page, '#')).toHaveLength(50);
        await page.getByRole('button', { name: 'Next' }).click();
        expect(numbers(await columnOf(page, '#'))[0]).toBe(50);
        await page.getByLabel('Search').fill('reply number 11');
        expect(numbers(await columnOf(page, '#'))).toEqual([
          11, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119,
        ]);
        await page.getByLabel('Search').fill('nothing like it');
        expect(await columnOf(page, '#')).toEqual([]);

        const latencies = page.getByRole('region', { name: 'Latencies and sizes per request' });
        const mean = latencies.getByRole('columnheader', { name: 'Mean' });
        for (const wanted of ['descending', 'ascending']) {
          await mean.getByRole('button').click();
          expect(await mean.getAttribute('aria-sort')).toBe(wanted);
        }
      });
    });

    it('can be used by keyboard alone: values of a chart are walked over and said', async () => {
      await withReport(textRun(), async ({ page }) => {
        const chart = page.getByRole('slider', { name: 'Histogram of Time to First Token: values' });
        await chart.focus();
        await page.keyboard.press('Home');
        expect(await chart.getAttribute('aria-valuetext')).toMatch(/^20 to 22\.4\d+ ms: 3 of 30$/);
        await page.keyboard.press('ArrowRight');
        expect(await chart.getAttribute('aria-valuenow')).toBe('1');
        await page.keyboard.press('End');
        expect(await chart.getAttribute('aria-valuetext')).toMatch(/to 49 ms: 3 of 30$/);
      });
    });

    it('gives its requests as CSV and its data as JSON', async () => {
      await withReport(textRun(), async ({ page }) => {
        const [csv] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download CSV' }).click(),
        ]);
        const lines = readFileSync(await csv.path(), 'utf8')
          .trim()
          .split('\r\n');
        expect(lines).toHaveLength(31);
        expect(lines[0]).toMatch(/^index,outcome,.*,ttft_ms,tpot_ms/);
        expect(lines[1]).toMatch(/^0,ok,all,0,50,12,12,20,10,/);
        const [json] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download JSON' }).click(),
        ]);
        expect(JSON.parse(readFileSync(await json.path(), 'utf8'))).toMatchObject({
          version: 1,
          run: { completed: 30 },
        });
      });
    });

    it('shows hostile strings as text and nothing else', async () => {
      await withReport(hostileRun(), async ({ page, bytes }) => {
        await page.getByText('Beginning of the reply').click();
        expect(await page.evaluate('window.pwned')).toBeUndefined();
        expect(await page.locator('img, iframe, object, #page script').count()).toBe(0);
        expect(await page.locator('script').count()).toBe(2);
        const text = await page.locator('#page').textContent();
        expect(text).toContain('<script>window.pwned=1</script>');
        const html = await page.locator('#page').innerHTML();
        // Neither controls nor marks that turn text around, in text or attribute.
        expect(html).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\ufeff]/u);
        expect(await page.title()).not.toMatch(/[\p{Cc}\u202e]/u);
        expect(bytes).toBeLessThan(400_000);
        expect(await seriousFaults(page)).toEqual([]);
        const overflow: number = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow).toBeLessThanOrEqual(0);
      });
    });

    it('obeys the choice of a theme', async () => {
      await withReport(textRun(3), async ({ page }) => {
        const background = (): Promise<string> =>
          page.evaluate('getComputedStyle(document.body).backgroundColor');
        await page.getByLabel('dark', { exact: true }).check();
        await expect.poll(background).toBe('rgb(14, 18, 22)');
        await page.getByLabel('light', { exact: true }).check();
        await expect.poll(background).toBe('rgb(246, 247, 249)');
      });
    });

    it('is printed whole, in light colours', async () => {
      const report = await browser.open(spokenRun(), { colorScheme: 'dark' });
      await report.page.emulateMedia({ media: 'print' });
      expect(await report.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
        'rgb(255, 255, 255)',
      );
      expect(await report.page.getByRole('button', { name: 'Download CSV' }).isVisible()).toBe(false);
      expect((await report.page.pdf({ format: 'A4' })).length).toBeGreaterThan(20_000);
      await report.close();
    });
  },
);
