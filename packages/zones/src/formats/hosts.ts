/** A hosts file (hosts(5)): addresses and names, nothing else. */
import { ownerName } from '../plan.ts';
import { defineFormat, type RenderContext } from './format.ts';

export const ADDRESS_TYPES = ['A', 'AAAA'] as const;

export function hostsText({ plan, heading, eachZone }: RenderContext): Iterable<string> {
  const records = plan.records.filter(({ type }) => type === 'A' || type === 'AAAA');
  const head = `# ${heading}\n# A hosts file has only address records, without TTLs; it cannot hold SOA and NS records.\n`;
  return eachZone(
    ({ name }) =>
      records.map((record) => `${String(record.data)} ${ownerName(record.name, name)}\n`).join(''),
    { head },
  );
}

export const hosts = defineFormat({
  name: 'hosts',
  title: 'hosts file',
  description: 'Addresses and names, for /etc/hosts, the hosts plugin of CoreDNS, or dnsmasq --addn-hosts',
  files: ['hosts'],
  recordTypes: ADDRESS_TYPES,
  render: (context) => [hostsText(context)],
});
