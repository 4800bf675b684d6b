/** A hosts file (hosts(5)): addresses and names, nothing else. */
import { ownerName } from '../plan.ts';
import { compileZoneText, zoneChunks } from '../zone-text.ts';
import { defineFormat, held } from './format.ts';

const TYPES = ['A', 'AAAA'] as const;

export const hosts = defineFormat({
  name: 'hosts',
  title: 'hosts file',
  description: 'Addresses and names, for /etc/hosts, the hosts plugin of CoreDNS, or dnsmasq --addn-hosts',
  files: ['hosts'],
  recordTypes: TYPES,
  render({ zoneSet, plan, settings, heading }) {
    const records = held(plan, TYPES);
    const zone = compileZoneText(({ name }) =>
      records.map((record) => `${String(record.data)} ${ownerName(record.name, name)}\n`).join(''),
    );
    const head = `# ${heading}\n# A hosts file has only address records, without TTLs; it cannot hold SOA and NS records.\n`;
    return [zoneChunks(zoneSet, zone, { head, onProgress: settings.onProgress })];
  },
});
