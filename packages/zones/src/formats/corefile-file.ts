/**
 * CoreDNS with the `file` plugin. All zones share one zone file with relative names, so that a million zones
 * do not need a million files.
 */
import { sharedZoneFile } from '../presentation.ts';
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { corednsBlockHead, corednsBlockName } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { inDirectory, SHARED_ZONE_FILE } from './paths.ts';

export const corefileFile = defineFormat({
  name: 'corefile-file',
  title: 'CoreDNS, file plugin',
  description: 'Corefile with the file plugin, and the zone file that all zones share',
  files: ['Corefile', SHARED_ZONE_FILE],
  encrypts: ENCRYPTED_TRANSPORTS,
  render({ zoneSet, plan, settings, heading }) {
    const file = inDirectory(settings.directory, SHARED_ZONE_FILE);
    const block = compileZoneText(
      ({ name }) =>
        `${corednsBlockName(name, settings)} {\n${corednsBlockHead(settings)}  file "${file}"\n}\n`,
    );
    const head = `# ${heading}\n# Start: coredns -conf Corefile\n\n`;
    return [
      zoneChunks(zoneSet, block, { head, onProgress: settings.onProgress }),
      sharedZoneFile(plan.records, heading),
    ];
  },
});
