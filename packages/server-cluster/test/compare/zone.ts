/** Zones with everything in them that makes servers differ, as files for NSD and Knot DNS and as a store. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineZoneSet, findFormat, writeFiles, type ZoneSet } from '@dinodns-bench/zones';
import { ZoneStore } from '../../src/store/zone-store.ts';

export const zoneSet: ZoneSet = defineZoneSet({
  pattern: 'zone-{X}.bench.example',
  from: 1,
  to: 3,
  parity: 'all',
  ttl: 300,
  records: [
    'SOA ns1.{zone} admin.example.net 7 7200 1800 1209600 120',
    'NS ns1.{zone}',
    'NS ns2.example.net',
    'A 192.0.2.1',
    'A 192.0.2.2',
    'AAAA 2001:db8::1',
    'ns1 A 192.0.2.53',
    'mail AAAA 2001:db8::25',
    'MX 10 mail.{zone}',
    'MX 20 mail.example.net',
    'TXT "v=spf1 -all"',
    { type: 'TXT', data: 'long '.repeat(70).trim() },
    '_sip._tcp SRV 0 5 5060 mail.{zone}',
    'CAA 0 issue "ca.example.net; policy=x"',
    'www CNAME {zone}',
    'alias CNAME www.{zone}',
    'away CNAME www.example.net',
  ],
  hosts: ['api', 'a.deep'],
});

interface Extra {
  readonly name: string;
  readonly type: string;
  /** As in a zone file, relative to the zone. */
  readonly text: string;
  /** As for a store; `{zone}` stands for the zone's name. */
  readonly data: unknown;
}

function extra(name: string, type: string, text: string, data: unknown = text): Extra {
  return { name, type, text, data };
}

/** A record whose data is a name in the zone. */
function toName(name: string, type: string, target: string): Extra {
  return extra(name, type, target, `${target}.{zone}`);
}

function many(name: string, count: number): Extra[] {
  return Array.from({ length: count }, (_, index) => extra(name, 'A', `198.51.100.${index}`));
}

/** Two labels of 63 bytes, and as much as makes 255 with `zone-1.bench.example`. */
const LONG_NAME = ['l'.repeat(63), 'o'.repeat(63), 'n'.repeat(63), 'g'.repeat(255 - 3 * 64 - 22 - 1)].join(
  '.',
);

/** What zone sets do not have. */
const EXTRAS: readonly Extra[] = [
  extra('*.wild', 'A', '192.0.2.30'),
  extra('*.wild', 'TXT', '"wild"', 'wild'),
  extra('*.wild', 'MX', '10 mail', { preference: 10, exchange: 'mail.{zone}' }),
  extra('here.wild', 'TXT', '"here"', 'here'),
  extra('a.below.wild', 'A', '192.0.2.31'),
  toName('*.alias-wild', 'CNAME', 'www'),
  toName('to-wild', 'CNAME', 'some.wild'),
  toName('gone', 'CNAME', 'missing'),
  toName('chain1', 'CNAME', 'chain2'),
  toName('chain2', 'CNAME', 'chain3'),
  toName('chain3', 'CNAME', 'api'),
  toName('no-type', 'CNAME', 'mail'),
  toName('loop1', 'CNAME', 'loop2'),
  toName('loop2', 'CNAME', 'loop1'),
  toName('sub', 'NS', 'ns.sub'),
  extra('sub', 'NS', 'ns.example.net.', 'ns.example.net'),
  extra('sub', 'DS', `4711 8 2 ${'ab'.repeat(32)}`, {
    keyTag: 4711,
    algorithm: 8,
    digestType: 2,
    digest: Buffer.alloc(32, 0xab),
  }),
  extra('ns.sub', 'A', '192.0.2.40'),
  extra('ns.sub', 'AAAA', '2001:db8::40'),
  toName('sub2', 'NS', 'ns.sub'),
  toName('sub3', 'NS', 'ns1'),
  toName('to-sub', 'CNAME', 'host.sub'),
  toName('dn-host', 'DNAME', 'a.deep'),
  toName('dn-wild', 'DNAME', 'wild'),
  toName('dn-sub', 'DNAME', 'sub'),
  toName('dn-long', 'DNAME', LONG_NAME),
  toName('dn-dn', 'DNAME', 'x.dn-wild'),
  extra('dn-out', 'DNAME', 'example.net.', 'example.net'),
  extra('dn-wild', 'A', '192.0.2.33'),
  toName('to-dn', 'CNAME', 'x.dn-wild'),
  toName('to-dn-long', 'CNAME', 'x.dn-long'),
  toName('to-dn-itself', 'CNAME', 'dn-host'),
  extra('a\\.b', 'A', '192.0.2.50'),
  extra('space\\032here', 'A', '192.0.2.51'),
  extra('\\255\\000\\001', 'A', '192.0.2.52'),
  extra(LONG_NAME, 'A', '192.0.2.60'),
  extra('x.ent', 'A', '192.0.2.70'),
  ...many('big', 60),
  ...many('huge', 120),
];

/** Writes the files of a format, with everything in the zone file. */
export async function writeZones(format: string, directory: string, port: number): Promise<void> {
  const files = [...findFormat(format).render(zoneSet, { directory, port })];
  await writeFiles(directory, files);
  const zoneFile = files.at(-1)?.path ?? '';
  const lines = EXTRAS.map(({ name, type, text }) => `${name} 300 IN ${type} ${text}\n`);
  await appendFile(join(directory, zoneFile), lines.join(''));
}

function inZone(data: unknown, zone: string): unknown {
  if (typeof data === 'string') return data.replace('{zone}', zone);
  if (typeof data !== 'object' || data === null || !('exchange' in data)) return data;
  return { ...data, exchange: inZone(data.exchange, zone) };
}

export function storeOfZones(): ZoneStore {
  const store = new ZoneStore();
  for (const zone of zoneSet.zones()) {
    const extras = EXTRAS.map(({ name, type, data }) => ({
      name: `${name}.${zone.name}`,
      type,
      ttl: 300,
      data: inZone(data, zone.name),
    }));
    store.addZone(zone);
    store.addZone({ name: zone.name, records: extras });
  }
  return store;
}

/** Names to ask for, relative to a zone: all that there are, and what is beside, above and below them. */
export function namesToAsk(): string[] {
  const [zone] = zoneSet.zones();
  const own = (zone?.records ?? []).map(({ name }) => name.slice(0, -(zone?.name.length ?? 0) - 1));
  const owners = [...new Set([...own, ...EXTRAS.map(({ name }) => name)])];
  return [
    ...owners,
    ...owners.flatMap((name) => (name.length > 180 || name === '' ? [] : [`x.${name}`, `b.a.${name}`])),
    ...owners.filter((name) => name.includes('.')).map((name) => name.slice(name.indexOf('.') + 1)),
    'missing',
    'wild',
    'x.y.wild',
    'a.b.c.d.e.f.g.h',
  ];
}

/** Names that are in none of the zones. */
export const OUTSIDE = [
  'bench.example',
  'zone-9.bench.example',
  'www.zone-9.bench.example',
  'com',
  '.',
  'example',
];
