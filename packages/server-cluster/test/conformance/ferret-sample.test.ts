/** Zones of the Ferret/SCALE dataset, one for each kind of question and answer. All of them: `pnpm test:conformance`. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseFerret, scoreOf } from './ferret.ts';

const SAMPLE = new URL('fixtures/ferret-sample.ndjson', import.meta.url);

test('a sample of zones is answered as BIND, NSD, Knot DNS or PowerDNS do', async () => {
  const zones = parseFerret(await readFile(SAMPLE, 'utf8'));
  const { right, additional, wrong } = scoreOf(zones);
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(additional.slice(0, 3)).toEqual([]);
  expect(right).toBe(zones.length);
});
