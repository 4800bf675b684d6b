/** CoreDNS with the `auto` plugin, which loads every zone file of a directory; the file's name is the zone's. */
import type { Problem } from '@dinodns-bench/program';
import { sharedZoneFile } from '../presentation.ts';
import { corednsBlockForAll } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { inDirectory } from './paths.ts';

/** The plugin needs a file for each zone, and looks through the directory at its start. */
const MAX_ZONES = 10_000;

const DIRECTORY = 'zones';

function tooMany(size: number): Problem[] {
  if (size <= MAX_ZONES) return [];
  return [
    {
      problem: `the format corefile-auto writes a file for each zone, at most ${MAX_ZONES}, not ${size}`,
      fix: 'use fewer zones, or the format corefile-file, whose zones share a file',
    },
  ];
}

export const corefileAuto = defineFormat({
  name: 'corefile-auto',
  title: 'CoreDNS, auto plugin',
  description: 'Corefile with the auto plugin, and a directory with a zone file for each zone',
  files: ['Corefile'],
  encrypts: ENCRYPTED_TRANSPORTS,
  unsupported: (_plan, { size }) => tooMany(size),
  render(context) {
    const directory = inDirectory(context.settings.directory, DIRECTORY);
    const auto = `  auto {\n    directory "${directory}" db\\.(.*) {1}\n    reload 0\n  }\n`;
    return [corednsBlockForAll(context, auto)];
  },
  *renderMore({ zoneSet, plan, heading }) {
    for (const name of zoneSet.names()) {
      yield { path: `${DIRECTORY}/db.${name}`, chunks: sharedZoneFile(plan.records, heading) };
    }
  },
});
