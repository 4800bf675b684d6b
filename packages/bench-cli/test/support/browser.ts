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

interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly noScript?: boolean;
}

export interface TestBrowser {
  /** Opens `html` from a file on disk. */
  open(html: string, options?: OpenOptions): Promise<OpenedPage>;
  /** Opens a file of a site on disk, which may ask for other files below `root`. */
  openFile(path: string, root: string, options?: OpenOptions): Promise<OpenedPage>;
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
  /** `root` is the file or directory beyond which a request is worth a complaint. */
  async function show(
    path: string,
    root: string,
    { width = 1280, height = 900, dark = false, noScript = false }: OpenOptions = {},
  ): Promise<OpenedPage> {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      javaScriptEnabled: !noScript,
    });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const complaints: string[] = [];
    const allowed = pathToFileURL(root).href;
    page.on('console', (message) => complaints.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url().split('#')[0] ?? '';
      if (url !== allowed && !url.startsWith(`${allowed}/`)) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(pathToFileURL(path).href);
    return { page, complaints };
  }
  return {
    async open(html, options) {
      const path = join(directory, `page-${contexts.length}.html`);
      await writeFile(path, html);
      return show(path, path, options);
    },
    openFile: show,
    async close() {
      for (const context of contexts) await context.close();
      await browser.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
