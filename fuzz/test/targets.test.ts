/** A short campaign against each target, the same on every run, with all inputs that were ever found to break one. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { conformancePage, count } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { Corpus } from '../corpus.ts';
import { type Progress, runCampaign } from '../engine/campaign-thread.ts';
import { TARGETS } from '../targets.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));

/** Executions for each target, and the branches that its seeds alone do not reach. */
const SHORT: Readonly<Record<string, { readonly runs: number; readonly branches: number }>> = {
  query: { runs: 20_000, branches: 100 },
  'zone-file': { runs: 2000, branches: 700 },
  'query-file': { runs: 4000, branches: 75 },
  capture: { runs: 10_000, branches: 120 },
  answer: { runs: 1500, branches: 400 },
  stream: { runs: 10_000, branches: 150 },
  http2: { runs: 400, branches: 460 },
};

test('every target has its short campaign', () => {
  expect(Object.keys(SHORT)).toEqual(TARGETS.map(({ name }) => name));
});

/** On an idle machine, the longest takes three seconds. */
const PATIENCE = { timeout: 300_000 };

test.each(TARGETS.map(({ name }) => name))('%s keeps its promises', PATIENCE, async (name) => {
  const { runs = 0, branches = 0 } = SHORT[name] ?? {};
  const fixtures = new Corpus(`${FIXTURES}/${name}`).inputs();
  const findings: string[] = [];
  let last: Progress | undefined;
  await runCampaign(
    { name, seed: 1, corpus: fixtures, runs, seconds: Number.POSITIVE_INFINITY },
    {
      onProgress: (progress) => {
        last = progress;
      },
      onFinding: (input, error) => findings.push(`${Buffer.from(input).toString('base64')}: ${error}`),
    },
  );
  expect(findings).toEqual([]);
  expect(last?.executions).toBeGreaterThanOrEqual(runs);
  expect(last?.sites).toBeGreaterThan(branches);
});

test('docs/conformance.md says how long the short campaigns are', () => {
  const page = conformancePage();
  for (const [name, { runs }] of Object.entries(SHORT))
    expect(page).toContain(`| \`${name}\` | ${count(runs)} |`);
});

test('the nightly workflow runs every target', async () => {
  const workflow = await readFile(new URL('../../.github/workflows/fuzz.yml', import.meta.url), 'utf8');
  const [, matrix = ''] = /target: \[(.*)\]/.exec(workflow) ?? [];
  expect(matrix.split(', ')).toEqual(TARGETS.map(({ name }) => name));
});
