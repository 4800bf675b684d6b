/** CoreDNS with the `hosts` plugin. */
import { corednsBlockForAll } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS } from './format.ts';
import { ADDRESS_TYPES, hostsText } from './hosts.ts';
import { inDirectory } from './paths.ts';

export const corefileHosts = defineFormat({
  name: 'corefile-hosts',
  title: 'CoreDNS, hosts plugin',
  description: 'Corefile with the hosts plugin, and a hosts file; SERVFAIL for missing names in a zone',
  files: ['Corefile', 'hosts'],
  encrypts: ENCRYPTED_TRANSPORTS,
  recordTypes: ADDRESS_TYPES,
  render(context) {
    const file = inDirectory(context.settings.directory, 'hosts');
    const plugin = `  hosts "${file}" {\n    ttl ${context.plan.soa.ttl}\n    reload 0\n    no_reverse\n  }\n`;
    return [corednsBlockForAll(context, plugin), hostsText(context)];
  },
});
