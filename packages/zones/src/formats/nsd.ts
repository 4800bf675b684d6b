/** NSD 4. */
import { defineFormat, encryptedService } from './format.ts';
import { inDirectory, SHARED_ZONE_FILE, withZoneFiles } from './paths.ts';

export const nsd = defineFormat({
  name: 'nsd',
  title: 'NSD',
  description: 'nsd.conf, and the zone file that all zones share',
  files: ['nsd.conf', SHARED_ZONE_FILE],
  encrypts: ['tls'],
  render(context) {
    const { directory, stateDirectory, address, port, workers } = context.settings;
    const head = `# ${context.heading}
# Start: nsd -d -c nsd.conf
server:
  ip-address: ${address}@${port}
  port: ${port}
  server-count: ${workers}
  # Runs as the user who starts it, with all files in this directory.
  username: ""
  chroot: ""
  zonesdir: "${directory}"
  xfrdir: "${stateDirectory}"
  database: ""
  zonelistfile: "${inDirectory(stateDirectory, 'nsd-zone.list')}"
  xfrdfile: "${inDirectory(stateDirectory, 'nsd-xfrd.state')}"
  pidfile: ""
  # The zone file is shared, so nothing may be written back.
  zonefiles-write: 0
  hide-version: yes
  # By default, Debian's NSD answers each client (a /24) at most 200 times a second.
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
${encryptedService(context.settings)}remote-control:
  control-enable: no
`;
    return withZoneFiles(context, head, (name, file) => `zone:\n  name: "${name}"\n  zonefile: "${file}"\n`);
  },
});
