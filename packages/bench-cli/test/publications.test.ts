/** Published runs have the reports of their records, and docs/publications.md what bench says of them. With `-u`, both are written anew. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PUBLICATIONS } from '../src/history/published.ts';
import { type Cell, judgementText, type Reproduction } from '../src/history/reproduce/procedure.ts';
import { METRIC_NAMES } from '../src/stats/metrics.ts';
import { referenceFolder, referenceText } from './support/reference.ts';
import { testWorld } from './support/test-world.ts';

const FILE = fileURLToPath(new URL('../../../docs/publications.md', import.meta.url));
const page = await readFile(FILE, 'utf8');

/** What `bench reproduce PUBLICATION` says of published runs. */
async function reproduced(publication: string, runs: readonly string[], ...flags: string[]) {
  const world = await testWorld();
  try {
    const argv = ['reproduce', publication, runs.map((run) => referenceFolder(run)).join('+'), ...flags];
    expect(await world.bench(...argv), world.err()).toBe(0);
    return world.out();
  } finally {
    await world.remove();
  }
}

/** `<!-- bench reproduce PUBLICATION RUN+RUN: SECTION, SECTION -->`; without sections, all that are about these runs. */
const BLOCK =
  /^<!-- bench reproduce (?<publication>\S+) (?<runs>[^\s:]+)(?:: (?<wanted>.+))? -->\n[\s\S]*?^<!-- end -->$/gm;
const NOT_ABOUT_RUNS = ['How to read them', 'Again'];

async function blockOf([whole, publication = '', runs = '', wanted]: RegExpMatchArray): Promise<string> {
  const [head = '', ...sections] = (
    await reproduced(publication, runs.split('+'), '--format', 'markdown')
  ).split(/^(?=## )/m);
  const titleOf = (section: string) => /^## (.*)/.exec(section)?.[1] ?? '';
  const texts =
    wanted === undefined
      ? [
          head.replace(/^# .*\n+/, ''),
          ...sections
            .filter((section) => !NOT_ABOUT_RUNS.includes(titleOf(section)))
            .map((text) => `#${text}`),
        ]
      : wanted.split(', ').map((title) => {
          const found = sections.find((section) => titleOf(section) === title);
          expect(found, title).toBeDefined();
          return found?.replace(/^## .*\n+/, '');
        });
  return [whole.split('\n')[0], ...texts.map((text) => text?.trim()), '<!-- end -->'].join('\n\n');
}

const runs = readdirSync(referenceFolder('.'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('/run.json.gz'))
  .map((path) => path.slice(0, path.indexOf('/')));

it.each(runs)('%s has the report of its record', async (name) => {
  const world = await testWorld();
  try {
    expect(await world.bench('report', referenceFolder(name), '--format', 'markdown'), world.err()).toBe(0);
    await expect(world.out()).toMatchFileSnapshot(`${referenceFolder(name)}/report.md`);
  } finally {
    await world.remove();
  }
});

it('the README has the table of the default run', async () => {
  const world = await testWorld();
  try {
    expect(await world.bench('report', referenceFolder('local-default'), '--format', 'terminal')).toBe(0);
    const [table = 'none'] = /^Tier 1, single\n(?:.+\n)+/m.exec(world.out()) ?? [];
    expect(await readFile(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8')).toContain(
      table,
    );
  } finally {
    await world.remove();
  }
});

it('has what bench reproduce says of the published runs', async () => {
  const blocks = [...page.matchAll(BLOCK)];
  expect(new Set(blocks.map(({ groups }) => groups?.publication))).toEqual(new Set(PUBLICATIONS));
  const texts = await Promise.all(blocks.map(blockOf));
  await expect(page.replaceAll(BLOCK, () => texts.shift() ?? '')).toMatchFileSnapshot(FILE);
});

const cellsOf = (publication: string, runs: readonly string[]) =>
  Promise.all(
    runs.map(
      async (run) => (JSON.parse(await reproduced(publication, [run], '--json')) as Reproduction).cells,
    ),
  );

function textOf({ measured, ...judged }: Cell): string {
  // Outwards, as bench prints them.
  const bound = (value: number | null, round: (value: number) => number) =>
    (round((value ?? Number.NaN) * 1000) / 1000).toFixed(3);
  const { ratio, low, high, isBound } = measured ?? {};
  const interval = `[${bound(low ?? null, Math.floor)}, ${bound(high ?? null, Math.ceil)}]`;
  return `${ratio === undefined ? '–' : `${ratio.toFixed(3)} ${interval}${isBound ? ' †' : ''}`} | ${judgementText(judged)}`;
}

it('has the ratios of the first publication, of two runs side by side', async () => {
  const written = page.split('\n').filter((line) => /^\| tier \d, /.test(line));
  const ours = await cellsOf('blog', ['local-tier1-both', 'kubernetes-testcluster']);
  const expected = (ours[0] ?? []).map(({ tier, title, metric, published }, index) => {
    const both = ours.flatMap((cells) => cells[index] ?? []).map(textOf);
    return `| tier ${tier}, ${title}: ${METRIC_NAMES[metric]} | ${published.ratio.toFixed(3)} | ${both.join(' | ')} |`;
  });
  expect(written).toEqual(expected);
});

it('has those of the swaps, with averages of the published readings', async () => {
  const written = page.split('\n').filter((line) => /^\| names .*: 1\.13\.1 ÷ 1\.11\.3 /.test(line));
  const ours = await cellsOf('swap', ['kubernetes-swap-published', 'local-coredns-versions']);
  const names = ['names of the cluster', 'names outside'];
  const published = ['283.7m → 296.4m, +4.45 %', '282.2m → 303.5m, +7.57 %'];
  const expected = (ours[0] ?? []).map((cell, index) => {
    const both = ours.flatMap((cells) => cells[index] ?? []).map(textOf);
    const { ratio } = cell.published;
    // What stands in words beside the ratio is the same ratio.
    expect(published[index]).toContain(`+${(ratio * 100 - 100).toFixed(2)} %`);
    return `| ${names[index]}: 1.13.1 ÷ 1.11.3 | ${ratio.toFixed(3)} (${published[index]}) | ${both.join(' | ')} |`;
  });
  expect(expected).toHaveLength(2);
  expect(written).toEqual(expected);
});

it('says by how much the CPU rises when the load of a swap starts', async () => {
  const notes = (
    JSON.parse(await reproduced('swap', ['kubernetes-swap-published'], '--json')) as Reproduction
  ).notes;
  const rises = notes.flatMap((note) => /rise by (\S+) when the load starts/.exec(note)?.[1] ?? []);
  const { cases }: { cases: { summary: Record<string, { median: number }> }[] } = JSON.parse(
    referenceText('kubernetes-swap-published'),
  );
  const ours = cases
    .flatMap(({ summary }) => [summary['net-internal'], summary['net-external']])
    .map((net) => Math.round((net?.median ?? Number.NaN) * 1000));
  expect(page.replaceAll(/\s+/g, ' ')).toContain(
    `CPU rises by ${rises.join(', ')} when it starts, where it should cost 80m or more; ours rises by ${Math.min(...ours)}m to ${Math.max(...ours)}m`,
  );
});
