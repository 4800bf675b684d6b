/** BIND 9. */
import { isIP } from 'node:net';
import { sharedZoneFile } from '../presentation.ts';
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { defineFormat } from './format.ts';
import { ownZoneFile, SHARED_ZONE_FILE, zoneFileTexts } from './paths.ts';

export const bind = defineFormat({
  name: 'bind',
  title: 'BIND',
  description: 'named.conf, and the zone file that all zones share',
  files: ['named.conf', SHARED_ZONE_FILE],
  render({ zoneSet, plan, settings, heading }) {
    const { directory, address, port, workers } = settings;
    const [v4, v6] = isIP(address) === 6 ? ['none', address] : [address, 'none'];
    const head = `// ${heading}
// Start: named -f -L named.log -c named.conf -n ${workers}
options {
  directory "${directory}";
  listen-on port ${port} { ${v4}; };
  listen-on-v6 port ${port} { ${v6}; };
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
    const { zoneFiles } = settings;
    const zone = compileZoneText(({ name }) => {
      const file = zoneFiles === undefined ? SHARED_ZONE_FILE : ownZoneFile(zoneFiles, name);
      return `zone "${name}" { type primary; file "${file}"; };\n`;
    });
    return [
      zoneChunks(zoneSet, zone, { head, onProgress: settings.onProgress }),
      ...zoneFileTexts(settings.zoneFiles, sharedZoneFile(plan.records, heading)),
    ];
  },
});
