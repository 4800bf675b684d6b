/** What is generated for DinoDNS works in the unmodified npm package. */
import { symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';
import { expect, it } from 'vitest';
import { defineZoneSet, findFormat, writeFiles } from '../src/index.ts';
import { ask, comparable } from './support/dns.ts';
import { freePort, startProcess, temporaryDirectory } from './support/servers.ts';

const zoneSet = defineZoneSet({
  pattern: 'zone-{X}.example',
  to: 9,
  records: [
    'A 192.0.2.1',
    'A 192.0.2.2',
    'MX 10 mail.{zone}',
    'mail AAAA 2001:db8::1',
    `TXT "it's" "{zone} \\\\ \${x}"`,
  ],
  hosts: ['www'],
});

it('the program serves the zones', async () => {
  const directory = await temporaryDirectory();
  const port = await freePort();
  await writeFiles(directory, findFormat('dinodns-code').render(zoneSet, { port }));
  const installed = dirname(createRequire(import.meta.url).resolve('dinodns/package.json'));
  await symlink(dirname(installed), join(directory, 'node_modules'));
  const running = await startProcess(
    [process.execPath, join(directory, 'server.mjs')],
    directory,
    port,
    zoneSet,
  );
  try {
    for (const { records } of [...zoneSet.zones()].filter((_, index) => index % 2 === 0)) {
      for (const { name, type } of records) {
        const lookup = zoneSet.lookup(name, type);
        // The framework sends TTL 0 whatever its store holds.
        const wanted =
          lookup.kind === 'answer' ? lookup.records.map((record) => comparable(record, false)).sort() : [];
        expect((await ask(port, name, type, { withTtl: false })).records).toEqual(wanted);
      }
    }
    expect((await ask(port, 'zone-2.example', 'A')).records).toEqual([]);
  } finally {
    await running.stop();
  }
});

it('the store is read by DefaultStore.fromString and holds every record', () => {
  const [file] = findFormat('dinodns-store').render(zoneSet);
  const store = DefaultStore.fromString([...(file?.chunks ?? [])].join(''));
  let records = 0;
  for (const zone of zoneSet.zones()) {
    for (const { name, type, data } of zone.records) {
      expect(store.get(name, type, false)).toContainEqual(data);
      records += 1;
    }
  }
  expect(records).toBe(5 * 9);
  expect(store.get('zone-2.example', 'A')).toBeNull();
});
