/** PowerDNS Authoritative Server 4, with its bind backend. */
import { defineFormat, WITHOUT_DNAME } from './format.ts';
import { inDirectory, SHARED_ZONE_FILE, withZoneFiles } from './paths.ts';

/** Packets, database queries and their negative results (docs: "Caches"). */
const NO_CACHES = `# Every answer comes from the backend.
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
`;

export const powerdns = defineFormat({
  name: 'powerdns',
  title: 'PowerDNS',
  description: 'pdns.conf for the bind backend, its list of zones, and the zone file that all zones share',
  files: ['pdns.conf', 'zones.conf', SHARED_ZONE_FILE],
  recordTypes: WITHOUT_DNAME,
  render(context) {
    const { settings, heading } = context;
    const { directory, address, port, workers } = settings;
    const conf = `# ${heading}
# Start in this directory: pdns_server --config-dir=.
launch=bind
bind-config=${inDirectory(directory, 'zones.conf')}
bind-check-interval=0
local-address=${address}
local-port=${port}
# One socket and one thread for each worker, which asks the backend itself.
reuseport=yes
receiver-threads=${workers}
distributor-threads=1
${settings.powerdns.caches ? '' : NO_CACHES}daemon=no
guardian=no
write-pid=no
# The control socket is in the working directory, because the path of a socket has at most 107 bytes.
socket-dir=/proc/self/cwd
disable-syslog=yes
loglevel=4
# By default, PowerDNS asks the internet for security advisories.
security-poll-suffix=
`;
    // "primary" and "master" are each unknown to some versions.
    const block = (name: string, file: string) => `zone "${name}" { type native; file "${file}"; };\n`;
    return [[conf], ...withZoneFiles(context, `// ${heading}\n`, block)];
  },
});
