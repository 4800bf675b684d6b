/**
 * CoreDNS with the `file` plugin. All zones share one zone file with relative names, so that a million zones
 * do not need a million files.
 */
import { corednsBlock, corednsHead } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { SHARED_ZONE_FILE, withZoneFiles } from './paths.ts';

export const corefileFile = defineFormat({
  name: 'corefile-file',
  title: 'CoreDNS, file plugin',
  description: 'Corefile with the file plugin, and the zone file that all zones share',
  files: ['Corefile', SHARED_ZONE_FILE],
  encrypts: ENCRYPTED_TRANSPORTS,
  render: (context) =>
    withZoneFiles(context, corednsHead(context), (name, file) =>
      corednsBlock(name, context.settings, `  file "${file}"\n`),
    ),
});
