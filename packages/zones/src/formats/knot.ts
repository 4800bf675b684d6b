/** Knot DNS 3. */
import { defineFormat } from './format.ts';
import { SHARED_ZONE_FILE, withZoneFiles } from './paths.ts';

/** Bytes in the path of a Unix socket on Linux: `sun_path` has 108 with the final null (unix(7)). */
const MAX_SOCKET_PATH = 107;
const SOCKET = 'knot.sock';

/**
 * Knot DNS does not start if the path of its control socket is too long for the kernel. The path then goes through
 * the working directory, which is the directory of these files.
 */
function controlSocket(rundir: string): string {
  if (Buffer.byteLength(`${rundir}/${SOCKET}`) <= MAX_SOCKET_PATH) return '';
  return `control:\n  listen: /proc/self/cwd/${SOCKET}\n`;
}

export const knot = defineFormat({
  name: 'knot',
  title: 'Knot DNS',
  description: 'knot.conf, and the zone file that all zones share',
  files: ['knot.conf', SHARED_ZONE_FILE],
  render(context) {
    const { directory, stateDirectory, address, port, workers, zoneFiles } = context.settings;
    const head = `# ${context.heading}
# Start: knotd -c knot.conf
server:
  rundir: "${stateDirectory}"
  listen: ${address}@${port}
  udp-workers: ${workers}
  tcp-workers: ${workers}
  background-workers: 1
${controlSocket(stateDirectory)}log:
  - target: stderr
    any: warning
database:
  storage: "${stateDirectory}"
template:
  - id: default
    storage: "${directory}"
    file: ${SHARED_ZONE_FILE}
    # The zone file is shared, so nothing may be written back.
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
zone:
`;
    return withZoneFiles(
      context,
      head,
      (name, file) => `  - domain: ${name}\n${zoneFiles === undefined ? '' : `    file: "${file}"\n`}`,
    );
  },
});
