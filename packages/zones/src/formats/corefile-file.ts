/**
 * CoreDNS with the `file` plugin. All zones share one zone file with relative names, so that a million zones
 * do not need a million files.
 */
import { sharedZoneFile } from '../presentation.ts';
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { corednsBlockHead, corednsBlockName } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { inDirectory, ownZoneFile, SHARED_ZONE_FILE, zoneFileTexts } from './paths.ts';

export const corefileFile = defineFormat({
  name: 'corefile-file',
  title: 'CoreDNS, file plugin',
  description: 'Corefile with the file plugin, and the zone file that all zones share',
  files: ['Corefile', SHARED_ZONE_FILE],
  encrypts: ENCRYPTED_TRANSPORTS,
  render({ zoneSet, plan, settings, heading }) {
    const { directory, zoneFiles } = settings;
    const block = compileZoneText(({ name }) => {
      const file =
        zoneFiles === undefined ? inDirectory(directory, SHARED_ZONE_FILE) : ownZoneFile(zoneFiles, name);
      return `${corednsBlockName(name, settings)} {\n${corednsBlockHead(settings)}  file "${file}"\n}\n`;
    });
    const head = `# ${heading}\n# Start: coredns -conf Corefile\n\n`;
    return [
      zoneChunks(zoneSet, block, { head, onProgress: settings.onProgress }),
      ...zoneFileTexts(settings.zoneFiles, sharedZoneFile(plan.records, heading)),
    ];
  },
});
