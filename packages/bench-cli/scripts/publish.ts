/**
 * Renders the report of a published run again and takes the pictures of the README from its page:
 *
 *     pnpm exec node packages/bench-cli/scripts/publish.ts [FOLDER]    (default: results/reference/local-default)
 *
 * Needs Debian's chromium and pngquant. Files that are there are replaced; run it after every change of a renderer.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from '../src/cli.ts';
import { realWorld } from '../src/world.ts';
import { startBrowser } from '../test/support/browser.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const IMAGES = join(ROOT, 'docs', 'images');
/** Flat colours and text: 64 of them look the same, at a third of the size. */
const COLOURS = '64';

interface Picture {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  /** What is brought to the top of the picture; null for the top of the page. */
  readonly section: string | null;
}

const PICTURES: readonly Picture[] = [
  { name: 'report-light', width: 1200, height: 1180, dark: false, section: null },
  { name: 'report-dark', width: 1200, height: 1180, dark: true, section: null },
  { name: 'report-cases', width: 1200, height: 640, dark: false, section: '#cases' },
  { name: 'report-phone', width: 390, height: 844, dark: false, section: null },
  { name: 'report-phone-dark', width: 390, height: 844, dark: true, section: '#cases' },
];

async function takePictures(html: string): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  const browser = await startBrowser();
  try {
    for (const { name, section, ...look } of PICTURES) {
      const { page } = await browser.open(html, look);
      if (section !== null) await page.evaluate(`document.querySelector('${section}').scrollIntoView()`);
      const path = join(IMAGES, `${name}.png`);
      await page.screenshot({ path });
      execFileSync('pngquant', ['--speed', '1', '--strip', '--force', '--output', path, COLOURS, path]);
    }
  } finally {
    await browser.close();
  }
}

const folder = process.argv[2] ?? join(ROOT, 'results', 'reference', 'local-default');
const world = { ...realWorld(), cwd: ROOT };
const scratch = await mkdtemp(join(tmpdir(), 'dinodns-bench-publish-'));
try {
  process.exitCode = await main(['report', folder, '--format', 'md', '--to', folder], world);
  process.exitCode ||= await main(['report', folder, '--format', 'html', '--to', scratch], world);
  if (process.exitCode === 0) await takePictures(await readFile(join(scratch, 'report.html'), 'utf8'));
} finally {
  await rm(scratch, { recursive: true, force: true });
}
