/**
 * Renders the report of a published run again and takes the picture of the README from its page:
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

async function takePicture(html: string): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  const browser = await startBrowser();
  try {
    const { page } = await browser.open(html, { width: 1200, height: 1180, dark: false });
    const path = join(IMAGES, 'report-light.png');
    await page.screenshot({ path });
    execFileSync('pngquant', ['--speed', '1', '--strip', '--force', '--output', path, COLOURS, path]);
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
  if (process.exitCode === 0) await takePicture(await readFile(join(scratch, 'report.html'), 'utf8'));
} finally {
  await rm(scratch, { recursive: true, force: true });
}
