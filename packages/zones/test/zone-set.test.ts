import { describe, expect, it } from 'vitest';
import { defineZoneSet, formats, type ZoneSetInput, ZonesError } from '../src/index.ts';

/** The error for a specification. */
function refusal(input: unknown): ZonesError {
  try {
    defineZoneSet(input as ZoneSetInput);
  } catch (error) {
    if (error instanceof ZonesError) return error;
    throw error;
  }
  throw new Error('the zone set was accepted');
}

describe('the published set', () => {
  const zoneSet = defineZoneSet();

  it('is the 100 odd zones from example1.com to example199.com', () => {
    const names = [...zoneSet.zones()].map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: 100 }, (_, index) => `example${2 * index + 1}.com`));
    expect(zoneSet.size).toBe(100);
  });

  it('has A 127.0.0.1 in each zone, and the SOA and NS records that every zone needs', () => {
    const [first] = zoneSet.zones();
    expect(first?.records).toEqual([
      {
        name: 'example1.com',
        ttl: 60,
        type: 'SOA',
        data: {
          mname: 'ns.invalid',
          rname: 'hostmaster.invalid',
          serial: 1,
          refresh: 7200,
          retry: 3600,
          expire: 1209600,
          minimum: 3600,
        },
      },
      { name: 'example1.com', ttl: 60, type: 'NS', data: 'ns.invalid' },
      { name: 'example1.com', ttl: 60, type: 'A', data: '127.0.0.1' },
    ]);
  });

  it.each([
    ['example1.com', 'A', 'answer'],
    ['EXAMPLE199.com.', 'a', 'answer'],
    ['example1.com', 'SOA', 'answer'],
    ['example1.com', 'MX', 'no-data'],
    ['example1.com', 'HTTPS', 'no-data'],
    ['www.example1.com', 'A', 'no-such-name'],
    ['.example1.com', 'A', 'no-such-name'],
    ['example2.com', 'A', 'no-such-zone'],
    ['example201.com', 'A', 'no-such-zone'],
    ['example01.com', 'A', 'no-such-zone'],
    ['example-1.com', 'A', 'no-such-zone'],
    ['example1.5.com', 'A', 'no-such-zone'],
    ['myexample1.com', 'A', 'no-such-zone'],
    ['example1.com.net', 'A', 'no-such-zone'],
    ['example.com', 'A', 'no-such-zone'],
    ['com', 'A', 'no-such-zone'],
    ['.', 'A', 'no-such-zone'],
    ['', 'A', 'no-such-zone'],
  ])('knows the answer to %s %s: %s', (name, type, kind) => {
    expect(zoneSet.lookup(name, type).kind).toBe(kind);
  });
});

describe('lookup', () => {
  it('finds every zone of a set by its name, and no others', () => {
    for (const parity of ['odd', 'even', 'all'] as const) {
      const zoneSet = defineZoneSet({
        pattern: 'a{X}b.x-1{X}'.replace('{X}', '1'),
        from: 8,
        to: 112,
        parity,
      });
      const names = new Set([...zoneSet.zones()].map(({ name }) => name));
      expect(names.size).toBe(zoneSet.size);
      for (let number = 0; number < 130; number++) {
        const name = `a1b.x-1${number}`;
        expect(zoneSet.lookup(name, 'A').kind).toBe(names.has(name) ? 'answer' : 'no-such-zone');
      }
    }
  });

  it('takes constant time for a billion zones', () => {
    const zoneSet = defineZoneSet({ to: 1_000_000_000, parity: 'all' });
    expect(zoneSet.size).toBe(1_000_000_000);
    // CPU time, because other programs take the machine.
    const start = process.threadCpuUsage();
    for (let index = 0; index < 10_000; index++) zoneSet.lookup('example999999999.com', 'A');
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(1);
    expect(zoneSet.lookup('example1000000000.com', 'A').kind).toBe('answer');
    expect(zoneSet.lookup('example1000000001.com', 'A').kind).toBe('no-such-zone');
  });

  it('gives hosts the addresses of the zone, and knows empty non-terminals', () => {
    const zoneSet = defineZoneSet({
      hosts: ['www', 'a.b'],
      records: ['A 192.0.2.1', 'MX 10 mail.example.net'],
    });
    expect(zoneSet.lookup('www.example3.com', 'A')).toEqual({
      kind: 'answer',
      records: [{ name: 'www.example3.com', ttl: 60, type: 'A', data: '192.0.2.1' }],
    });
    expect(zoneSet.lookup('www.example3.com', 'MX')).toEqual({ kind: 'no-data', zone: 'example3.com' });
    expect(zoneSet.lookup('b.example3.com', 'A').kind).toBe('no-data');
    expect(zoneSet.lookup('c.example3.com', 'A').kind).toBe('no-such-name');
  });

  it('follows a CNAME within the zone', () => {
    const zoneSet = defineZoneSet({
      records: ['A 192.0.2.1', 'www CNAME {zone}', 'far CNAME www.example.net'],
    });
    const names = (name: string, type: string) => {
      const lookup = zoneSet.lookup(name, type);
      return lookup.kind === 'answer'
        ? lookup.records.map((record) => `${record.name} ${record.type}`)
        : lookup.kind;
    };
    expect(names('www.example1.com', 'A')).toEqual(['www.example1.com CNAME', 'example1.com A']);
    expect(names('www.example1.com', 'MX')).toEqual(['www.example1.com CNAME']);
    expect(names('www.example1.com', 'CNAME')).toEqual(['www.example1.com CNAME']);
    expect(names('far.example1.com', 'A')).toEqual(['far.example1.com CNAME']);
  });
});

describe('a DNAME', () => {
  const zoneSet = defineZoneSet({
    records: [
      ...[
        'A 192.0.2.1',
        'www CNAME {zone}',
        'old 7 DNAME {zone}',
        'older DNAME old.{zone}',
        'out DNAME example.net',
      ],
      `long DNAME ${['x', 'y', 'z'].map((letter) => letter.repeat(63)).join('.')}.example.net`,
    ],
  });
  const shown = (name: string, type = 'A') => {
    const lookup = zoneSet.lookup(name, type);
    const records = 'records' in lookup ? (lookup.records ?? []) : [];
    return [lookup.kind, ...records.map(({ name: owner, ttl, type: own }) => `${owner} ${ttl} ${own}`)];
  };

  it('redirects the names below it, with a CNAME that has its TTL', () => {
    expect(shown('www.old.example1.com')).toEqual([
      'answer',
      'old.example1.com 7 DNAME',
      'www.old.example1.com 7 CNAME',
      'www.example1.com 60 CNAME',
      'example1.com 60 A',
    ]);
    expect(zoneSet.lookup('a.b.out.example1.com', 'A')).toMatchObject({
      records: [{ type: 'DNAME' }, { type: 'CNAME', data: 'a.b.example.net' }],
    });
    expect(shown('www.older.example1.com').at(-1)).toBe('example1.com 60 A');
    expect(shown('www.old.example1.com', 'CNAME')).toHaveLength(3);
    expect(shown('old.example1.com')).toEqual(['no-data']);
  });

  it('may lead to a name that does not exist, or that would be too long', () => {
    expect(shown('gone.old.example1.com')).toEqual([
      'no-such-name',
      'old.example1.com 7 DNAME',
      'gone.old.example1.com 7 CNAME',
    ]);
    expect(shown(`${'a'.repeat(60)}.long.example1.com`)).toEqual([
      'name-too-long',
      'long.example1.com 60 DNAME',
    ]);
  });

  it.each([
    [
      'names below it',
      ['old DNAME example.net', 'www.old A 192.0.2.1'],
      /www\.old\.\{zone\} is below the DNAME record at old\.\{zone\}/,
    ],
    [
      'a second one',
      ['old DNAME example.net', 'old DNAME example.org'],
      /second DNAME record at old\.\{zone\}/,
    ],
    ['a target below itself', ['old DNAME x.old.{zone}'], /leads back to itself/],
    ['a circle', ['a DNAME b.{zone}', 'b DNAME a.{zone}'], /leads back to itself/],
  ])('with %s is refused', (_, records, problem) => {
    expect(refusal({ records }).problems[0]?.problem).toMatch(problem);
  });
});

describe('records', () => {
  const recordsOf = (...records: (string | object)[]) => {
    const [zone] = defineZoneSet({ records } as ZoneSetInput).zones();
    return zone?.records.slice(2).map(({ type, data, ttl, name }) => ({ name, ttl, type, data }));
  };

  it('can be written as lines, with names, TTLs and quotes', () => {
    expect(
      recordsOf(
        'www 300 IN A 192.0.2.1',
        '5 TXT "a b" c',
        String.raw`5 TXT "\065\"\\065" \066`,
        'mx A 192.0.2.2',
        'CAA 0 issue "x; y"',
        'MX 5 mx.{zone}',
      ),
    ).toEqual([
      { name: 'www.example1.com', ttl: 300, type: 'A', data: '192.0.2.1' },
      { name: 'example1.com', ttl: 5, type: 'TXT', data: ['a b', 'c'] },
      { name: 'example1.com', ttl: 5, type: 'TXT', data: ['A"\\065', 'B'] },
      { name: 'mx.example1.com', ttl: 60, type: 'A', data: '192.0.2.2' },
      { name: 'example1.com', ttl: 60, type: 'CAA', data: { flags: 0, tag: 'issue', value: 'x; y' } },
      { name: 'example1.com', ttl: 60, type: 'MX', data: { preference: 5, exchange: 'mx.example1.com' } },
    ]);
  });

  it('can be objects in the shape of dns-packet', () => {
    expect(recordsOf({ type: 'AAAA', data: '2001:DB8:0:0::1', name: 'www.{zone}', ttl: 0 })).toEqual([
      { name: 'www.example1.com', ttl: 0, type: 'AAAA', data: '2001:db8::1' },
    ]);
  });

  it('splits a long text into strings of 255 bytes', () => {
    const [record] = recordsOf({ type: 'TXT', data: 'x'.repeat(600) }) ?? [];
    expect(record?.data).toEqual(['x'.repeat(255), 'x'.repeat(255), 'x'.repeat(90)]);
  });

  it('names the first NS in a default SOA, and the SOA server in a default NS', () => {
    const [withNs] = defineZoneSet({ records: ['NS ns1.example.net', 'NS ns2.example.net'] }).zones();
    expect(withNs?.records[0]?.data).toMatchObject({ mname: 'ns1.example.net' });
    const soa = 'SOA ns9.example.net admin.example.net 1 7200 3600 1209600 3600';
    const [withSoa] = defineZoneSet({ records: [soa] }).zones();
    expect(withSoa?.records.map(({ type, data }) => [type, data]).at(1)).toEqual(['NS', 'ns9.example.net']);
  });
});

describe('a specification that is wrong', () => {
  const label = 'a'.repeat(63);

  it.each<[string, unknown, RegExp, RegExp]>([
    ['a reversed range', { from: 200, to: 1 }, /reversed: from 200 to 1/, /from 1 to 200/],
    ['a range without an odd number', { from: 2, to: 2 }, /no odd number from 2 to 2/, /parity "all"/],
    [
      'a range without an even number',
      { from: 3, to: 3, parity: 'even' },
      /no even number/,
      /an even number/,
    ],
    ['an unknown parity', { parity: 'uneven' }, /parity cannot be "uneven"/, /even/],
    ['a number that is not whole', { to: 1.5 }, /to cannot be 1.5/, /whole number from 0/],
    ['a negative number', { from: -1 }, /from cannot be -1/, /whole number from 0/],
    ['not a number', { to: Number.NaN }, /to cannot be NaN/, /whole number/],
    ['a number as text', { to: '200' }, /to cannot be "200"/, /whole number/],
    ['an enormous number', { to: 1e300 }, /to cannot be 1e\+300/, /1,000,000,000,000/],
    ['a pattern without the number', { pattern: 'example.com' }, /no \{X\}/, /"example\{X\}.com"/],
    ['a pattern with another placeholder', { pattern: 'example%d.com' }, /no \{X\}/, /\{X\} instead of %d/],
    ['a pattern with two numbers', { pattern: '{X}.{X}.com' }, /\{X\} 2 times/, /once/],
    ['a pattern with an empty label', { pattern: 'a{X}..com' }, /empty label/, /single dots/],
    ['a pattern with a bad character', { pattern: 'a b{X}.com' }, /character " "/, /letters, digits/],
    [
      'a pattern with a name of another script',
      { pattern: 'bücher{X}.example' },
      /character "ü"/,
      /xn--bcher/,
    ],
    ['a hyphen at an edge', { pattern: '-a{X}.com' }, /hyphen: "-a199"/, /between/],
    [
      'a label that is too long for the largest number',
      { pattern: `${label.slice(2)}{X}.com` },
      /64 bytes/,
      /63/,
    ],
    [
      'a name that is too long',
      { pattern: `{X}.${label}.${label}.${label}.${label}` },
      /bytes in a DNS message/,
      /shorten it by 6/,
    ],
    [
      'a host that makes a name too long',
      { pattern: `{X}.${label}.${label}.${label}`, hosts: [`${label}`] },
      /bytes in a DNS message/,
      /255/,
    ],
    ['a negative TTL', { ttl: -1 }, /ttl cannot be -1/, /2147483647/],
    ['a TTL over 31 bits', { ttl: 2 ** 31 }, /ttl cannot be 2147483648/, /2147483647/],
    [
      'a TTL over 31 bits in a record',
      { records: ['2147483648 A 192.0.2.1'] },
      /ttl cannot be 2147483648/,
      /./,
    ],
    ['an unknown type', { records: ['PTR a.example.net'] }, /unknown record type "PTR"/, /TXT/],
    [
      'an unknown type in an object',
      { records: [{ type: 'AA', data: '' }] },
      /type cannot be "AA"/,
      /did you mean A/,
    ],
    ['a record without a type', { records: [''] }, /no type/, /SOA/],
    [
      'an address that is none',
      { records: ['A 127.0.0.256'] },
      /"127.0.0.256" is not an IPv4/,
      /four numbers/,
    ],
    ['an IPv6 address with type A', { records: ['A ::1'] }, /not an IPv4/, /AAAA/],
    ['an IPv4 address with type AAAA', { records: ['AAAA 127.0.0.1'] }, /not an IPv6/, /type A /],
    ['an IPv6 address that is none', { records: ['AAAA ::g'] }, /not an IPv6/, /2001:db8/],
    ['a zone index', { records: ['AAAA fe80::1%eth0'] }, /not an IPv6/, /zone index/],
    ['a MX without preference', { records: ['MX mail.example.net'] }, /MX needs 2 values/, /"MX 10 mail/],
    ['a MX to an address', { records: ['MX 10 192.0.2.1'] }, /is an address/, /mail\.\{zone\}/],
    ['a MX to a single label', { records: ['MX 10 mail'] }, /single label/, /"mail.\{zone\}"/],
    [
      'a preference over 16 bits',
      { records: ['MX 65536 mail.example.net'] },
      /preference cannot be 65536/,
      /MX 10/,
    ],
    ['a SRV to an address', { records: ['_s._tcp SRV 0 0 1 ::1'] }, /is an address/, /full name/],
    [
      'a SRV with a port over 16 bits',
      { records: ['_s._tcp SRV 0 0 70000 a.b'] },
      /port cannot be 70000/,
      /SRV/,
    ],
    [
      'a target without an address in the zone',
      { records: ['A 192.0.2.1', 'MX 10 mail.{zone}'] },
      /no address/,
      /add an A or AAAA record/,
    ],
    [
      'a target that is a CNAME',
      { records: ['A 192.0.2.1', 'm CNAME {zone}', 'MX 1 m.{zone}'] },
      /is an alias/,
      /./,
    ],
    [
      'a target in one zone of the set',
      { records: ['MX 10 mail.example1.com'] },
      /in a zone of this set/,
      /mail.\{zone\}/,
    ],
    [
      'a string over 255 bytes',
      { records: [{ type: 'TXT', data: ['x'.repeat(256)] }] },
      /256 bytes/,
      /one string/,
    ],
    [
      'a text that no message holds',
      { records: [{ type: 'TXT', data: 'x'.repeat(65_001) }] },
      /65001 bytes/,
      /65000/,
    ],
    ['a text with a control character', { records: [{ type: 'TXT', data: 'a\nb' }] }, /"\\n"/, /printable/],
    ['an open quote', { records: ['TXT "a'] }, /quotes do not match/, /one pair/],
    [
      'a CAA tag with a blank',
      { records: [{ type: 'CAA', data: { flags: 0, tag: 'a b', value: '' } }] },
      /CAA tag/,
      /issue/,
    ],
    [
      'a CNAME at the zone',
      { records: ['CNAME www.example.net'] },
      /\{zone\} has a CNAME record beside SOA/,
      /give the CNAME a name within the zone/,
    ],
    [
      'a CNAME beside other data',
      { records: ['www A 192.0.2.1', 'www CNAME a.b'] },
      /www\.\{zone\} has a CNAME record beside A/,
      /keep the CNAME record or/,
    ],
    [
      'two CNAMEs',
      { records: ['w CNAME a.b', 'w CNAME c.d'] },
      /second CNAME record at w\.\{zone\}/,
      /one of them/,
    ],
    ['CNAMEs in a circle', { records: ['a CNAME b.{zone}', 'b CNAME a.{zone}'] }, /a → b → a/, /an address/],
    ['a CNAME to nothing', { records: ['a CNAME b.{zone}'] }, /points at b/, /"b A /],
    [
      'two SOA records',
      { records: ['SOA a. b. 1 1 1 1 1', 'SOA a. b. 2 1 1 1 1'] },
      /second SOA record at \{zone\}/,
      /one of them/,
    ],
    ['a NS below the zone', { records: ['sub NS ns.example.net'] }, /a zone of its own/, /omit the name/],
    ['a record twice', { records: ['AAAA ::1', 'AAAA 0::1'] }, /the same/, /keep one/],
    [
      'TTLs that differ in a set',
      { records: ['1 A 192.0.2.1', '2 A 192.0.2.2'] },
      /the TTL 2 of the A record at \{zone\} differs from 1/,
      /same TTL/,
    ],
    ['a wildcard', { records: ['*.x A 192.0.2.1'] }, /wildcard/, /each host/],
    ['an absolute owner', { records: ['www.example1.com. A 192.0.2.1'] }, /absolute/, /such as www/],
    ['a host twice', { hosts: ['a', 'a'] }, /twice/, /once/],
    ['hosts without addresses', { records: ['MX 1 a.b'], hosts: ['www'] }, /no records/, /type A/],
    ['no records', { records: [] }, /records cannot be \[\]/, /A 127.0.0.1/],
    ['an unknown key', { pattren: 'x{X}' }, /unknown key "pattren"/, /did you mean pattern/],
    ['no object', 'example{X}.com', /is not an object/, /pattern/],
  ])('%s is rejected with a fix', (_, input, problem, fix) => {
    const error = refusal(input);
    expect(error.code).toBe('E_ZONE_SET');
    expect(error.exitStatus).toBe(2);
    expect(error.problems).toHaveLength(1);
    expect(error.problems[0]?.problem).toMatch(problem);
    expect(error.fix).toMatch(fix);
  });

  it('has all of its problems reported at once', () => {
    const error = refusal({
      pattern: 'example',
      from: 9,
      to: 1,
      ttl: -1,
      parity: 'none',
      records: ['A 1.2.3', 'MX 10 ::1'],
      more: true,
    });
    expect(error.problems.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/parity/),
      expect.stringMatching(/ttl/),
      expect.stringMatching(/^record 1 \(A 1.2.3\)/),
      expect.stringMatching(/^record 2 \(MX 10 ::1\)/),
      expect.stringMatching(/"more"/),
      expect.stringMatching(/reversed/),
      expect.stringMatching(/no \{X\}/),
    ]);
    expect(error.message).toContain('7 problems');
  });
});

describe('a pattern without {X}', () => {
  const one = { from: 0, to: 0, parity: 'all', records: ['A 192.0.2.1', 'site A 192.0.2.1'] } as const;

  it('is the name of one zone', () => {
    const zoneSet = defineZoneSet({ ...one, pattern: 'Example.com' });
    expect([...zoneSet.zones()].map(({ name }) => name)).toEqual(['example.com']);
    expect(zoneSet.lookup('site.example.com', 'A')).toMatchObject({
      kind: 'answer',
      records: [{ name: 'site.example.com', data: '192.0.2.1' }],
    });
    expect(zoneSet.lookup('other.example.com', 'A').kind).toBe('no-such-name');
    expect(zoneSet.lookup('example0.com', 'A').kind).toBe('no-such-zone');
  });

  it('is refused for any other range', () => {
    expect(refusal({ ...one, pattern: 'example.com', to: 1 }).message).toContain('no {X}');
  });

  it('is served under its name by every server', () => {
    const zoneSet = defineZoneSet({ ...one, pattern: 'example.com' });
    for (const format of formats.filter(({ name }) => name !== 'dnsperf')) {
      const text = [...format.render(zoneSet)].flatMap(({ chunks }) => [...chunks]).join('');
      expect(text, format.name).toContain('example.com');
      expect(text, format.name).not.toContain('example0.com');
      expect(text, format.name).not.toMatch(/\$\{x\}/);
    }
  });
});
