/** A real browser for pages from disk: Debian's chromium, steered by playwright-core. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pathOf } from '@dinodns-bench/test-support';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** As root, without a display, and without asking anybody for anything. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

export interface OpenedPage {
  readonly page: Page;
  /** Messages on the console, uncaught errors, and whatever but the page itself was asked for. */
  readonly complaints: readonly string[];
}

export interface TestBrowser {
  /** Opens `html` from a file on disk. */
  open(
    html: string,
    options?: { width?: number; height?: number; dark?: boolean; noScript?: boolean },
  ): Promise<OpenedPage>;
  close(): Promise<void>;
}

export async function startBrowser(): Promise<TestBrowser> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-browser-'));
  const browser = await chromium.launch({
    executablePath: pathOf('chromium'),
    args: ARGUMENTS,
    timeout: 120_000,
  });
  const contexts: BrowserContext[] = [];
  return {
    async open(html, { width = 1280, height = 900, dark = false, noScript = false } = {}) {
      const path = join(directory, `page-${contexts.length}.html`);
      await writeFile(path, html);
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        javaScriptEnabled: !noScript,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      const complaints: string[] = [];
      const url = pathToFileURL(path).href;
      page.on('console', (message) => complaints.push(`console: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
      page.on('request', (request) => {
        if (request.url().split('#')[0] !== url) complaints.push(`request: ${request.url()}`);
      });
      await page.goto(url);
      return { page, complaints };
    },
    async close() {
      for (const context of contexts) await context.close();
      await browser.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
