/** All valid zones of the Ferret/SCALE dataset: none may be answered otherwise than by one of the four servers. */
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { conformanceFile } from './data.ts';
import { parseFerret, scoreOf } from './ferret.ts';

/** In the file of November 2026; fewer would mean that it has been cut off. */
const ZONES = 12_673;

const path = conformanceFile('ferret-valid.ndjson.gz');

test.skipIf(path === undefined)(
  '12,673 zones are answered as BIND, NSD, Knot DNS or PowerDNS do',
  async () => {
    const zones = parseFerret(gunzipSync(await readFile(path ?? '')).toString('utf8'));
    expect(zones).toHaveLength(ZONES);
    const { right, agreement, additional, wrong } = scoreOf(zones);
    const text = Array.from(agreement, ([server, count]) => `${server} ${count}`).sort();
    console.info(
      `Ferret: ${right} right, ${additional.length} but for the additional section, ${wrong.length} wrong`,
    );
    console.info(`Answered alike: ${text.join(', ')}`);
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(additional.slice(0, 3)).toEqual([]);
  },
);
