/** BIND 9. */
import { isIP } from 'node:net';
import { posix } from 'node:path';
import { defineFormat, type Encryption } from './format.ts';
import { SHARED_ZONE_FILE, withZoneFiles } from './paths.ts';

/** The name of our own `tls` and `http` blocks. */
const OWN = 'own';

/** What stands behind the port in `listen-on`, and the blocks that it names. DNS over HTTPS has BIND's own limit lifted. */
function listener(encryption: Encryption | undefined): { readonly suffix: string; readonly blocks: string } {
  if (encryption === undefined) return { suffix: '', blocks: '' };
  const tls = `tls ${OWN} { cert-file "${encryption.certificateFile}"; key-file "${encryption.keyFile}"; };\n`;
  if (encryption.transport === 'tls') return { suffix: ` tls ${OWN}`, blocks: tls };
  // By default, each address takes 300 connections with 100 streams each.
  const http = `http ${OWN} { endpoints { "/dns-query"; }; listener-clients 0; };\n`;
  return { suffix: ` tls ${OWN} http ${OWN}`, blocks: tls + http };
}

/** BIND reads relative paths from its directory. */
function fromDirectory(directory: string, file: string): string {
  return posix.isAbsolute(file) ? file : posix.relative(directory, file);
}

export const bind = defineFormat({
  name: 'bind',
  title: 'BIND',
  description: 'named.conf, and the zone file that all zones share',
  files: ['named.conf', SHARED_ZONE_FILE],
  encrypts: ['tls', 'https'],
  render(context) {
    const { directory, address, port, workers, encryption } = context.settings;
    const { suffix, blocks } = listener(encryption);
    const [v4, v6] = isIP(address) === 6 ? ['none', address] : [address, 'none'];
    const head = `// ${context.heading}
// Start: named -f -L named.log -c named.conf -n ${workers}
${blocks}options {
  directory "${directory}";
  listen-on port ${port}${suffix} { ${v4}; };
  listen-on-v6 port ${port}${suffix} { ${v6}; };
  pid-file none;
  session-keyfile none;
  recursion no;
  allow-query { any; };
  allow-transfer { none; };
  notify no;
  dnssec-validation no;
  empty-zones-enable no;
};
controls { };
// By default, BIND logs every query that it refuses.
logging {
  channel problems { stderr; severity warning; print-category yes; print-severity yes; };
  category default { problems; };
  category security { null; };
};
`;
    return withZoneFiles(
      context,
      head,
      (name, file) => `zone "${name}" { type primary; file "${fromDirectory(directory, file)}"; };\n`,
    );
  },
});
