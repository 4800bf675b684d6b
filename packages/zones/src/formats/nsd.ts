/** NSD 4. */
import { sharedZoneFile } from '../presentation.ts';
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { defineFormat, type Encryption } from './format.ts';
import { inDirectory, ownZoneFile, SHARED_ZONE_FILE, zoneFileTexts } from './paths.ts';

/** All TCP connections to this port are then TLS; NSD still answers over UDP there. */
function tlsService(port: number, encryption: Encryption | undefined): string {
  if (encryption === undefined) return '';
  return `  tls-port: ${port}
  tls-service-pem: "${encryption.certificateFile}"
  tls-service-key: "${encryption.keyFile}"
`;
}

export const nsd = defineFormat({
  name: 'nsd',
  title: 'NSD',
  description: 'nsd.conf, and the zone file that all zones share',
  files: ['nsd.conf', SHARED_ZONE_FILE],
  encrypts: ['tls'],
  render({ zoneSet, plan, settings, heading }) {
    const { directory, stateDirectory, address, port, workers, zoneFiles, encryption } = settings;
    const head = `# ${heading}
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
${tlsService(port, encryption)}remote-control:
  control-enable: no
`;
    const zone = compileZoneText(({ name }) => {
      const file =
        zoneFiles === undefined ? inDirectory(directory, SHARED_ZONE_FILE) : ownZoneFile(zoneFiles, name);
      return `zone:\n  name: "${name}"\n  zonefile: "${file}"\n`;
    });
    return [
      zoneChunks(zoneSet, zone, { head, onProgress: settings.onProgress }),
      ...zoneFileTexts(settings.zoneFiles, sharedZoneFile(plan.records, heading)),
    ];
  },
});
