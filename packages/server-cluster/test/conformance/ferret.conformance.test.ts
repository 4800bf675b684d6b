/** All valid zones of the Ferret/SCALE dataset: none may be answered otherwise than by one of the four servers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { conformanceDirectory, needs } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { parseFerret, scoreOf } from './ferret.ts';

/** In the file of November 2026; fewer would mean that it has been cut off. */
const ZONES = 12_673;

test('12,673 zones are answered as BIND, NSD, Knot DNS or PowerDNS do', {
  ...needs('conformance data'),
  timeout: 110_000,
}, async () => {
  const path = join(conformanceDirectory(), 'ferret-valid.ndjson.gz');
  const zones = parseFerret(gunzipSync(await readFile(path)).toString('utf8'));
  expect(zones).toHaveLength(ZONES);
  const { right, agreement, additional, wrong } = scoreOf(zones);
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(additional.slice(0, 3)).toEqual([]);
  expect(right).toBe(ZONES);
  // As docs/conformance.md has it.
  expect(Object.fromEntries(agreement)).toEqual({
    bind: 12_630,
    knot: 12_629,
    nsd: 12_673,
    powerdns: 12_613,
  });
});
