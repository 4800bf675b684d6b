/** CoreDNS with the `hosts` plugin. */
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { corednsBlockHead, corednsBlockName } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { hosts } from './hosts.ts';
import { inDirectory } from './paths.ts';

export const corefileHosts = defineFormat({
  name: 'corefile-hosts',
  title: 'CoreDNS, hosts plugin',
  description: 'Corefile with the hosts plugin, and a hosts file; SERVFAIL for missing names in a zone',
  files: ['Corefile', 'hosts'],
  encrypts: ENCRYPTED_TRANSPORTS,
  recordTypes: hosts.recordTypes,
  render({ zoneSet, plan, settings, heading }) {
    const key = compileZoneText(({ name }) => `${corednsBlockName(name, settings)} `);
    const file = inDirectory(settings.directory, 'hosts');
    const [entries] = hosts.render(zoneSet, { onProgress: settings.onProgress });
    return [
      zoneChunks(zoneSet, key, {
        head: `# ${heading}\n# Start: coredns -conf Corefile\n\n`,
        tail: `{\n${corednsBlockHead(settings)}  hosts "${file}" {\n    ttl ${plan.soa.ttl}\n    reload 0\n    no_reverse\n  }\n}\n`,
      }),
      entries?.chunks ?? [],
    ];
  },
});
