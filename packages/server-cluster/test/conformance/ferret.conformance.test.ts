/** All valid zones of the Ferret/SCALE dataset: none may be answered otherwise than by one of the four servers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { conformanceDirectory, conformancePage, count, needs } from '@dinodns-bench/test-support';
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
  expect(agreement.get('nsd')).toBe(ZONES);
  const others = ['bind', 'knot', 'powerdns'].map((name) => count(agreement.get(name) ?? 0));
  expect(conformancePage()).toContain(
    `with BIND in ${others[0]}, with Knot DNS in ${others[1]} and with PowerDNS in ${others[2]} zones`,
  );
});
