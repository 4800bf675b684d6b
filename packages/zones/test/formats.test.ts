import { describe, expect, it } from 'vitest';
import {
  defineZoneSet,
  findFormat,
  formats,
  type RenderOptions,
  type ZoneSet,
  ZonesError,
} from '../src/index.ts';

function texts(format: string, zoneSet: ZoneSet, options?: RenderOptions): Record<string, string> {
  const files = [...findFormat(format).render(zoneSet, options)];
  return Object.fromEntries(files.map(({ path, chunks }) => [path, [...chunks].join('')]));
}

function refusal(run: () => unknown): ZonesError {
  try {
    run();
  } catch (error) {
    if (error instanceof ZonesError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('the published Corefile', () => {
  it('has a server block with a template for each zone', () => {
    const { Corefile = '' } = texts('corefile', defineZoneSet());
    expect(Corefile.match(/^example\d+\.com:5300 \{$/gm)).toHaveLength(100);
    expect(Corefile).toContain(`
example199.com:5300 {
  bind 127.0.0.1
  template IN A {
    answer "{{ .Name }} 60 IN A 127.0.0.1"
  }
  import authority
}
`);
    expect(Corefile).not.toContain('match');
  });

  it('compares names if zones have hosts, or on request', () => {
    expect(texts('corefile', defineZoneSet({ hosts: ['www'] })).Corefile).toContain('match');
    expect(texts('corefile', defineZoneSet(), { coredns: { match: true } }).Corefile).toContain('match');
  });

  it('has the cache plugin in every block on request', () => {
    const { Corefile = '' } = texts('corefile', defineZoneSet(), { coredns: { cache: true } });
    expect(Corefile.match(/^ {2}cache$/gm)).toHaveLength(100);
  });

  it('has the multisocket plugin in every block on request', () => {
    const { Corefile = '' } = texts('corefile', defineZoneSet(), { coredns: { multisocket: 4 } });
    expect(Corefile.match(/^ {2}multisocket 4$/gm)).toHaveLength(100);
  });
});

describe.for(formats)('$name', (format) => {
  const zoneSet = defineZoneSet({ records: ['A 192.0.2.1', 'AAAA 2001:db8::1'], hosts: ['www'], to: 20 });

  it('generates the files that it lists, none of them empty', () => {
    const files = texts(format.name, zoneSet);
    expect(Object.keys(files).slice(0, format.files.length)).toEqual(format.files);
    for (const text of Object.values(files)) expect(text.length).toBeGreaterThan(100);
  });

  it('generates equal text from equal input', () => {
    const options = { directory: '/srv/zones', address: '::1', port: 53, workers: 2 };
    expect(texts(format.name, defineZoneSet(zoneSet.spec), options)).toEqual(
      texts(format.name, zoneSet, options),
    );
  });

  it('replaces all its stand-ins for names', () => {
    for (const text of Object.values(texts(format.name, zoneSet))) {
      expect(text).not.toMatch(/[^\n\x20-\x7e]|(?<!\$)\{zone\}|undefined|\[object/);
    }
  });

  // The auto plugin does; what it refuses is tested below.
  const needsFileForEachZone = format.name === 'corefile-auto';
  it(needsFileForEachZone ? 'needs a file for each zone' : 'does not need a file for each zone', () => {
    const zones = needsFileForEachZone ? 10 : 1_000_000;
    const files = [...format.render(defineZoneSet({ to: zones, parity: 'all' }))].length;
    if (needsFileForEachZone) expect(files).toBeGreaterThan(zones);
    else expect(files).toBeLessThanOrEqual(3);
  });

  it('rejects invalid options, all at once', () => {
    const options = {
      port: 0,
      address: 'localhost',
      workers: 1.5,
      directory: '/a"b',
      coredns: { multisocket: -1 },
    };
    const error = refusal(() => format.render(zoneSet, options));
    expect(error.code).toBe('E_FORMAT');
    expect(error.problems).toHaveLength(5);
  });
});

describe('what a format cannot hold is refused', () => {
  it.each([
    ['hosts', ['A 192.0.2.1', 'MX 10 mail.example.net'], /cannot hold MX/],
    ['unbound', ['A 192.0.2.1', 'www CNAME {zone}'], /cannot hold CNAME/],
    ['dnsmasq', ['A 192.0.2.1', '5 TXT "x"'], /one TTL, not 60, 5/],
    ['dnsmasq', ['A 192.0.2.1', 'www CNAME www.example.net'], /CNAME at www to www.example.net/],
    ['dnsmasq', ['A 192.0.2.1', 'x CAA 0 issue "a.b"'], /cannot hold x with CAA alone/],
  ])('%s: %s', (format, records, problem) => {
    expect(refusal(() => findFormat(format).render(defineZoneSet({ records }))).message).toMatch(problem);
  });
});

describe('a line of dnsmasq has at most 1,024 bytes', () => {
  const txt = (text: string, times: number) => `TXT "${text.repeat(times)}"`;
  const caa = (length: number) => `CAA 0 issue "${'x'.repeat(length)}"`;
  const render = (record: string, to = 9) =>
    texts('dnsmasq', defineZoneSet({ from: 9, to, parity: 'all', records: ['A 192.0.2.1', record] }));
  const longestIn = (files: Record<string, string>) => {
    const lines = Object.values(files).flatMap((text) => text.split('\n'));
    return Math.max(...lines.map(({ length }) => length));
  };

  it.each([
    { what: 'text', fits: txt('x', 989), bytes: 1024, not: txt('x', 990), over: 1025 },
    { what: 'text in quotes', fits: txt('\\"', 497), bytes: 1023, not: txt('\\"', 498), over: 1025 },
    { what: 'other data', fits: caa(493), bytes: 1024, not: caa(494), over: 1026 },
  ])('of $what', ({ fits, bytes, not, over }) => {
    expect(longestIn(render(fits))).toBe(bytes);
    const { problems } = refusal(() => render(not));
    const problem = ` record at @: its line has ${over} bytes for example9.com`;
    expect(problems).toEqual([expect.objectContaining({ problem: expect.stringContaining(problem) })]);
  });

  it('of the zone with the longest name', () => {
    const refused = refusal(() => render(txt('x', 989), 10));
    expect(refused.message).toContain('1025 bytes for example10.com');
  });
});

it('writes a file for each zone for the auto plugin, for at most 10,000 zones', () => {
  const files = texts('corefile-auto', defineZoneSet({ to: 6 }));
  expect(Object.keys(files)).toEqual([
    'Corefile',
    'zones/db.example1.com',
    'zones/db.example3.com',
    'zones/db.example5.com',
  ]);
  const tooMany = defineZoneSet({ to: 10_001, parity: 'all' });
  expect(refusal(() => findFormat('corefile-auto').render(tooMany)).message).toMatch(/at most 10000/);
});

it('leaves PowerDNS its caches unless they are refused', () => {
  const conf = (options?: RenderOptions) => texts('powerdns', defineZoneSet(), options)['pdns.conf'];
  expect(conf()).not.toContain('cache-ttl');
  expect(conf({ powerdns: { caches: false } })).toMatch(/^cache-ttl=0$/m);
});

it('finds a misspelt format and lists all', () => {
  const error = refusal(() => findFormat('corefiel'));
  expect(error.code).toBe('E_UNKNOWN_FORMAT');
  expect(error.fix).toMatch(/did you mean corefile\?/);
  for (const { name } of formats) expect(error.fix).toContain(name);
});

it('has all documented formats', () => {
  expect(formats.map(({ name }) => name)).toEqual([
    'corefile',
    'corefile-file',
    'corefile-auto',
    'corefile-hosts',
    'nsd',
    'knot',
    'bind',
    'powerdns',
    'unbound',
    'dnsmasq',
    'hosts',
    'dinodns-json',
    'dinodns-store',
    'dinodns-code',
    'dnsperf',
  ]);
});

it('reports progress up to the last zone', () => {
  const seen: number[] = [];
  const zoneSet = defineZoneSet({ to: 50_000, parity: 'all' });
  texts('hosts', zoneSet, { onProgress: (zones) => seen.push(zones) });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(50_000);
});

it('BIND, which reads relative paths from its directory, finds zone files in it', () => {
  const zoneSet = defineZoneSet({ pattern: 'example{X}.com' });
  const file = (options: object) =>
    /file "(.*?)"/.exec(texts('bind', zoneSet, options)['named.conf'] ?? '')?.[1];
  expect(file({ directory: 'conf' })).toBe('shared.zone');
  expect(file({ directory: '/conf' })).toBe('/conf/shared.zone');
  expect(file({ directory: 'conf', zoneFiles: 'zones' })).toMatch(/^\.\.\/zones\/example\d+\.com\.zone$/);
});

it('Knot DNS gets a path for its control socket that is short enough for the kernel', () => {
  const configurationIn = (directory: string) =>
    texts('knot', defineZoneSet({ pattern: 'example{X}.com' }), { directory })['knot.conf'];
  // 107 bytes with "/knot.sock", and one more.
  expect(configurationIn(`/${'x'.repeat(96)}`)).not.toContain('control:');
  expect(configurationIn(`/${'x'.repeat(97)}`)).toContain('control:\n  listen: /proc/self/cwd/knot.sock\n');
});
