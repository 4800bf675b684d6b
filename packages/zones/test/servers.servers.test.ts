/**
 * Every installed server is started with its generated configuration and must answer what `ZoneSet.lookup`
 * says. Which servers are installed is checked while the tests are collected; with
 * DINODNS_BENCH_REQUIRE_SERVERS=1 a missing one is a failure.
 */
import { needs } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineZoneSet, findFormat, type Lookup, type ZoneSet, type ZoneSetInput } from '../src/index.ts';
import { ask, comparable } from './support/dns.ts';
import { hostsServer, type Running, type ServerUnderTest, servers, startServer } from './support/servers.ts';

const LONG_TEXT = 'long '.repeat(70).trim();

/** Everything that all servers support. */
const RICH: ZoneSetInput = {
  pattern: 'zone-{X}.bench.example',
  from: 1,
  to: 4,
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
    { type: 'TXT', data: LONG_TEXT },
    { type: 'TXT', data: [`quote " backslash \\ apostrophe '`, '{{ .Zone }} {$HOME} {X} {zone} ; , # $ @'] },
    '_sip._tcp SRV 0 5 5060 mail.{zone}',
    'CAA 0 issue "ca.example.net; policy=x"',
    'www CNAME {zone}',
    'alias CNAME www.{zone}',
  ],
  hosts: ['api', 'a.deep'],
};

const DNAMES = [
  'old DNAME {zone}',
  'older 7 DNAME old.{zone}',
  'out DNAME example.net',
  'to-deep DNAME deep.{zone}',
];

/** The part of it that each format supports, and more if the format supports more. */
function richSetFor(format: string): ZoneSet {
  const records = RICH.records ?? [];
  switch (format) {
    case 'dnsmasq':
      return defineZoneSet(RICH);
    case 'unbound':
      return defineZoneSet({
        ...RICH,
        records: records.filter((record) => !String(record).includes(' CNAME ')),
      });
    default:
      return defineZoneSet({
        ...RICH,
        records: [
          ...records,
          'short 5 A 192.0.2.5',
          'away CNAME www.example.net',
          ...(findFormat(format).recordTypes.includes('DNAME') ? DNAMES : []),
        ],
      });
  }
}

const TYPES = ['A', 'AAAA', 'CNAME', 'DNAME', 'MX', 'TXT', 'NS', 'SOA', 'SRV', 'CAA'];

function namesToAsk(zoneSet: ZoneSet, zone: string): string[] {
  const own = [...zoneSet.zones()].find(({ name }) => name === zone)?.records.map(({ name }) => name) ?? [];
  const others = [
    'deep',
    '_tcp',
    'missing',
    'x.www',
    'x.api',
    'www.old',
    'gone.old',
    'alias.older',
    'x.out',
    'a.to-deep',
  ];
  return [...new Set([...own, ...others.map((name) => `${name}.${zone}`)])];
}

/** The response that the server must send. */
function expected(lookup: Lookup): { rcode: string; records: readonly string[] } {
  switch (lookup.kind) {
    case 'answer':
      return { rcode: 'NOERROR', records: lookup.records.map((record) => comparable(record)).sort() };
    case 'no-data':
      return { rcode: 'NOERROR', records: [] };
    case 'no-such-name':
      return {
        rcode: 'NXDOMAIN',
        records: (lookup.records ?? []).map((record) => comparable(record)).sort(),
      };
    case 'name-too-long':
      return { rcode: 'YXDOMAIN', records: lookup.records.map((record) => comparable(record)).sort() };
    case 'no-such-zone':
      return { rcode: 'REFUSED', records: [] };
  }
}

async function expectRightAnswer(running: Running, zoneSet: ZoneSet, name: string, type: string) {
  const { rcode, records, question } = await ask(running.port, name, type);
  expect({ question, rcode, records }).toEqual({
    question: `${name.toLowerCase()} ${type}`,
    ...expected(zoneSet.lookup(name, type)),
  });
}

/** The published templates do not compare names, unless they are told to; every other setup tells names below the zone from the apex. */
const isStrict = ({ format, options }: ServerUnderTest) =>
  format !== 'corefile' || options?.coredns?.match === true;

const matching = servers
  .filter((server) => !isStrict(server))
  .map(
    (server): ServerUnderTest => ({
      ...server,
      name: `${server.name}, match`,
      options: { coredns: { ...server.options?.coredns, match: true } },
    }),
  );

describe.for([...servers, ...matching])('$name', (server) => {
  describe('on the published zone set', needs(server.tool), () => {
    const zoneSet = defineZoneSet();
    let running: Running;
    beforeAll(async () => {
      running = await startServer(server, zoneSet);
    });
    afterAll(() => running?.stop());

    it('answers authoritatively for the first and the last zone', async () => {
      for (const name of ['example1.com', 'example199.com', 'EXAMPLE99.com']) {
        await expectRightAnswer(running, zoneSet, name, 'A');
        expect((await ask(running.port, name, 'A')).authoritative).toBe(true);
      }
    });

    it('answers other types of an existing name with no data, SOA and NS with records', async () => {
      for (const type of TYPES) await expectRightAnswer(running, zoneSet, 'example1.com', type);
    });

    if (isStrict(server))
      it('answers NXDOMAIN below the zones', () =>
        expectRightAnswer(running, zoneSet, 'www.example1.com', 'A'));

    it('refuses names outside all zones', async () => {
      for (const name of ['example2.com', 'example201.com', 'example01.com', 'www.example2.com', 'com']) {
        await expectRightAnswer(running, zoneSet, name, 'A');
      }
    });
  });
});

describe.for(servers)('$name', (server) => {
  describe('on all types that it supports, with hosts and aliases', needs(server.tool), () => {
    const zoneSet = richSetFor(server.format);
    let running: Running;
    beforeAll(async () => {
      running = await startServer(server, zoneSet);
    });
    afterAll(() => running?.stop());

    it.for(['zone-1.bench.example', 'zone-4.bench.example'])(
      'answers rightly for every name in %s',
      async (zone) => {
        const wrong: string[] = [];
        for (const name of namesToAsk(zoneSet, zone)) {
          for (const type of TYPES) {
            const { rcode, records } = await ask(running.port, name, type);
            const right = expected(zoneSet.lookup(name, type));
            if (JSON.stringify({ rcode, records }) !== JSON.stringify(right)) {
              wrong.push(
                `${name} ${type}: ${rcode} ${records.join(' ')} instead of ${right.rcode} ${right.records.join(' ')}`,
              );
            }
          }
        }
        expect(wrong).toEqual([]);
      },
    );

    it('refuses names outside the set', async () => {
      for (const name of ['zone-5.bench.example', 'zone-0.bench.example', 'bench.example']) {
        await expectRightAnswer(running, zoneSet, name, 'A');
      }
    });
  });
});

describe.for(servers.filter(({ format }) => format === 'dnsmasq'))('$name', (server) => {
  it('reads the longest lines that it is given', needs(server.tool), async () => {
    const records = ['A 192.0.2.1', `TXT "${'x'.repeat(989)}"`, `CAA 0 issue "${'x'.repeat(493)}"`];
    const zoneSet = defineZoneSet({ from: 9, to: 9, parity: 'all', records });
    const running = await startServer(server, zoneSet);
    try {
      for (const type of ['A', 'TXT', 'CAA']) await expectRightAnswer(running, zoneSet, 'example9.com', type);
    } finally {
      await running.stop();
    }
  });
});

describe('a hosts file in CoreDNS', needs(hostsServer.tool), () => {
  it('answers addresses of zones and hosts', async () => {
    const zoneSet = defineZoneSet({ records: ['A 192.0.2.1', 'AAAA 2001:db8::1'], hosts: ['www'] });
    const running = await startServer(hostsServer, zoneSet);
    try {
      for (const name of ['example1.com', 'www.example199.com']) {
        for (const type of ['A', 'AAAA']) {
          await expectRightAnswer(running, zoneSet, name, type);
        }
      }
      expect((await ask(running.port, 'example2.com', 'A')).rcode).toBe('REFUSED');
    } finally {
      await running.stop();
    }
  });
});
