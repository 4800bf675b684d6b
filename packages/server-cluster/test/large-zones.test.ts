/** Large zones are checked for errors without having all records in memory. The verdict is that of small ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZonesError } from '@dinodns-bench/zones';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadZoneFile, ZoneStore } from '../src/index.ts';

const HEAD = '$TTL 60\n@ SOA ns host 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.1\n';
/** With these, a zone has more records than are checked one by one. */
const HOSTS = Array.from({ length: 2500 }, (_, number) => `host${number} A 192.0.2.2\n`).join('');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'large-zones-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What is wrong with a zone, without the places; nothing if it can be loaded. */
async function problemsOf(text: string): Promise<string[]> {
  const file = join(directory, 'one.zone');
  writeFileSync(file, text);
  try {
    await loadZoneFile(new ZoneStore(), file, { origin: 'example.' });
    return [];
  } catch (error) {
    if (!(error instanceof ZonesError)) throw error;
    return error.problems.map(({ problem }) => problem.replace(/^\S+ /, '')).sort();
  }
}

test.each([
  ['an alias beside an address', 'x CNAME ns\n', 'x A 192.0.2.1\n', false],
  ['an address before an alias', 'x A 192.0.2.1\n', 'x CNAME ns\n', false],
  ['an alias twice', 'x CNAME ns\n', 'X CNAME ns\n', true],
  ['two aliases of a name', 'x CNAME ns\n', 'x CNAME host1\n', false],
  ['an alias with what DNSSEC adds', 'x CNAME ns\n', 'x NSEC y CNAME RRSIG NSEC\n', true],
  ['two DNAME records', 'x DNAME one.\n', 'x DNAME two.\n', false],
  ['a name below a DNAME record', 'x DNAME one.\n', 'a.b.x A 192.0.2.1\n', false],
  ['a DNAME record above a name', 'a.b.x A 192.0.2.1\n', 'x DNAME one.\n', false],
  ['a DNAME record below another', 'x DNAME one.\n', 'y.x DNAME two.\n', false],
  ['a DNAME record at a delegation', 'x DNAME one.\nx NS ns.x\n', 'ns.x A 192.0.2.1\n', true],
  ['a delegation at a DNAME record', 'ns.x A 192.0.2.1\nx NS ns.x\n', 'x DNAME one.\n', true],
  ['a DNAME record at the apex', '@ DNAME one.\n', '', false],
  ['a second SOA record', '@ SOA ns host 2 7200 3600 1209600 300\n', '', false],
  ['the SOA record twice', '@ SOA ns host 1 7200 3600 1209600 300\n', '', true],
  ['an SOA record below the apex', 'x SOA ns host 1 7200 3600 1209600 300\n', '', false],
  ['an alias at the apex', '@ CNAME one.\n', '', false],
  ['NSEC3 with 50 iterations', '@ NSEC3PARAM 1 0 50 -\n', '', true],
  ['NSEC3 with 51 iterations', '', '@ NSEC3PARAM 1 0 51 -\n', false],
  [
    'a record of NSEC3 with 65,535 iterations',
    '',
    `${'0'.repeat(32)} NSEC3 1 0 65535 - ${'1'.repeat(32)} A\n`,
    false,
  ],
])('%s', async (_name, first, last, isValid) => {
  const small = await problemsOf(HEAD + first + last);
  const large = await problemsOf(HEAD + first + HOSTS + last);
  expect(small.length === 0).toBe(isValid);
  // Below a DNAME record at the apex, the other hosts are wrong too.
  expect(large.filter((problem) => !problem.startsWith('host'))).toEqual(small);
});

test('iterations of NSEC3 are refused with the line of the zone file', async () => {
  const file = join(directory, 'hashed.zone');
  for (const hosts of ['', HOSTS]) {
    writeFileSync(file, `${HEAD}${hosts}@ NSEC3PARAM 1 0 100 AABB\n`);
    const line = `${HEAD}${hosts}`.split('\n').length;
    await expect(loadZoneFile(new ZoneStore(), file, { origin: 'example.' })).rejects.toMatchObject({
      problems: [
        {
          problem: `${file}:${line}: NSEC3PARAM has 100 iterations, and 50 are allowed`,
          fix: 'sign the zone with 0 iterations (RFC 9276, section 3.1)',
        },
      ],
    });
  }
});
