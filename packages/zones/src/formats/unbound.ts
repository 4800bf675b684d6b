/** Unbound, answering from `local-data` alone. */

import { resolveTarget } from '../names.ts';
import { ownerName } from '../plan.ts';
import { absolute, dataText } from '../presentation.ts';
import type { ZoneReference } from '../zone-text.ts';
import { defineFormat, encryptedService, WITHOUT_DNAME } from './format.ts';

/** Unbound does not follow a CNAME in local data, as an authoritative server must (RFC 1034 §4.3.2). */
const TYPES = WITHOUT_DNAME.filter((type) => type !== 'CNAME');

export const unbound = defineFormat({
  name: 'unbound',
  title: 'Unbound',
  description: 'unbound.conf with local-zone and local-data for each zone; everything else is refused',
  files: ['unbound.conf'],
  recordTypes: TYPES,
  encrypts: ['tls', 'https'],
  render({ plan, settings, heading, eachZone }) {
    const { directory, address, port, workers } = settings;
    const head = `# ${heading}
# Start: unbound -d -c unbound.conf
server:
  interface: ${address}@${port}
  port: ${port}
  num-threads: ${workers}
  so-reuseport: yes
  # Runs as the user who starts it.
  username: ""
  chroot: ""
  directory: "${directory}"
  pidfile: ""
  use-syslog: no
  # There is no recursion, so anybody may query.
  access-control: 0.0.0.0/0 allow
  access-control: ::0/0 allow
  module-config: "iterator"
  do-not-query-localhost: yes
  local-zone: "." refuse
${encryptedService(settings)}`;
    const textOf = ({ name }: ZoneReference) => {
      const lines = plan.records.map((record) => {
        const data = dataText(record, (target) => absolute(resolveTarget(target, name)));
        // Single quotes, because TXT and CAA data contain double quotes.
        return `  local-data: '${ownerName(record.name, name)}. ${record.ttl} IN ${record.type} ${data}'\n`;
      });
      return `  local-zone: "${name}." static\n${lines.join('')}`;
    };
    const tail = 'remote-control:\n  control-enable: no\n';
    return [eachZone(textOf, { head, tail })];
  },
});
