import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { summarize } from '../../src/metrics/summarize.ts';
import { buildReportModel } from '../../src/report/html/build-report-model.ts';
import type { ExampleRun } from '../../src/report/html/html-runs.suite.ts';
import { readPageTemplate } from '../../src/report/html/page-template.ts';
import { renderHtmlReport } from '../../src/report/html/render-html-report.ts';

const places = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].filter((place) => place !== undefined);

/** A browser of this machine; `null` = there is none. */
export const chromiumPath: string | null = places.find((place) => existsSync(place)) ?? null;

/** Why tests are skipped where they are. */
export const noChromium =
  'no chromium on this machine (Debian: apt-get install chromium; or set CHROMIUM_PATH)';

/** A page with all that went wrong in it. */
export type OpenReport = {
  readonly page: Page;
  /** Errors, console lines and requests for anything but the file itself. */
  readonly problems: readonly string[];
  readonly bytes: number;
  close(): Promise<void>;
};

/** Opens reports from disk, as a user does. */
export class ReportBrowser {
  readonly #browser: Browser;
  readonly #dir: string;
  #files = 0;

  private constructor(browser: Browser) {
    this.#browser = browser;
    this.#dir = mkdtempSync(join(tmpdir(), 'omnimeter-browser-'));
  }

  static async start(executablePath: string): Promise<ReportBrowser> {
    const args = [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
      ...['--disable-sync', '--no-first-run', '--disable-quic'],
    ];
    return new ReportBrowser(await chromium.launch({ executablePath, headless: true, args }));
  }

  async open(run: ExampleRun, options: BrowserContextOptions = {}): Promise<OpenReport> {
    const model = buildReportModel(run.records, summarize(run.records, run.facts));
    this.#files += 1;
    const file = join(this.#dir, `report-${this.#files}.html`);
    writeFileSync(file, renderHtmlReport(model, readPageTemplate()));
    return await this.openFile(file, options);
  }

  async openFile(file: string, options: BrowserContextOptions = {}): Promise<OpenReport> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const problems: string[] = [];
    const url = pathToFileURL(file).href;
    page.on('console', (message) => problems.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (request.url() !== url && !/^(data|blob):/.test(request.url()))
        problems.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    await page.waitForSelector('main #summary');
    return { page, problems, bytes: statSync(file).size, close: () => context.close() };
  }

  async close(): Promise<void> {
    await this.#browser.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
