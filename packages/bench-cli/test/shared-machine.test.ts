/** docs/method.md has what the published series of runs beside a neighbour say. With `-u`, its figures are written anew. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { reportOf, summaryOf } from '../scripts/shared-machine/figures.ts';
import { readSeries } from '../scripts/shared-machine/runs.ts';

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const BLOCK = /(?<=<!-- shared machine -->\n\n)[\s\S]*?(?=\n<!-- end -->)/;

const runs = await readSeries(root('docs/shared-machine/series.ndjson.gz'));

it('has the summary', async () => {
  const page = await readFile(root('docs/method.md'), 'utf8');
  expect(page).toMatch(BLOCK);
  await expect(page.replace(BLOCK, () => `${summaryOf(runs).trimEnd()}\n`)).toMatchFileSnapshot(
    root('docs/method.md'),
  );
});

it('has all figures in a report', async () => {
  await expect(reportOf(runs)).toMatchFileSnapshot(root('docs/shared-machine/report.md'));
});
