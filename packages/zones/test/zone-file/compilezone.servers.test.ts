/**
 * Zone files against BIND's own reader: what `named-compilezone` accepts gives the same records here, and the same
 * canonical text, byte for byte.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  conformancePage,
  fileNeeds,
  needs,
  needsFile,
  pathOf,
  randomFrom,
} from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import { originFromText, readZoneFile, ZoneFileError } from '../../src/index.ts';
import { canonicalText } from './canonical.ts';
import { randomZone } from './random-zone.ts';

const { describe, it } = fileNeeds('named-compilezone');
const fixtures = new URL('fixtures/', import.meta.url).pathname;
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'compilezone-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HEAD = '@ 60 SOA a b 1 2 3 4 5\n@ NS ns.o.\n';

/** Turns off the checks that go beyond reading the file. */
const NO_CHECKS = [
  '-i',
  'none',
  ...['-k', '-n', '-m', '-M', '-r', '-S', '-W'].flatMap((flag) => [flag, 'ignore']),
];

/** BIND's canonical text of the file; null if it refuses it. */
function compiled(origin: string, path: string): { text: string | null; messages: string } {
  const args = [...NO_CHECKS, '-s', 'full', '-o', '-', origin, path];
  const options = { cwd: dirname(path), encoding: 'latin1', timeout: 60_000, maxBuffer: 1024 ** 3 } as const;
  const { status, stdout, stderr } = spawnSync(pathOf('named-compilezone'), args, options);
  // BIND adds the time at which it will sign again.
  const text = stdout.replace(/^; resign=.*\n/gm, '');
  return { text: status === 0 ? text : null, messages: stderr };
}

/** Our canonical text of the file; the problems if it is refused. */
function canonical(origin: string, path: string): string {
  try {
    const records = readZoneFile(path, { origin });
    return [...canonicalText(records, originFromText(origin))].join('');
  } catch (error) {
    if (error instanceof ZoneFileError) return error.message;
    throw error;
  }
}

function sign(tool: 'dnssec-keygen' | 'dnssec-signzone', args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(pathOf(tool), args, { cwd, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}

/** Delegations as in the root zone: each with name servers within and outside of it, glue, and most with DS records. */
function rootLikeZone(delegations: number): string {
  const servers = (name: string) => `${name}.\t172800\tIN\tNS\ta.nic.${name}.\n${name}. 172800 IN NS b.gtld.`;
  const glue = (name: string, number: number) =>
    `a.nic.${name}. 172800 IN A 192.0.2.${number % 256}\na.nic.${name}. 172800 IN AAAA 2001:db8::${number.toString(16)}`;
  const lines = Array.from({ length: delegations }, (_, number) => {
    const name = number % 3 === 0 ? `XN--${number.toString(36)}` : `tld${number}`;
    const digest = number.toString(16).padStart(64, '0');
    const ds = number % 10 === 0 ? '' : `\n${name}. 86400 IN DS ${number} 8 2 ${digest}`;
    return `${servers(name)}${ds}\n${glue(name, number)}`;
  });
  const soa = '. 86400 IN SOA a.root. nstld.root. 2026112200 1800 900 604800 86400\n. 518400 IN NS a.root.\n';
  return `${soa}a.root. 518400 IN A 192.0.2.1\n${lines.join('\n')}\n`;
}

function write(text: string): string {
  const path = join(directory, 'zone');
  writeFileSync(path, text, 'latin1');
  return path;
}

describe('zone files that named-compilezone accepts', () => {
  it.each(['all-types.zone', 'syntax.zone'])('give the same canonical text: %s', (name) => {
    const path = join(fixtures, name);
    const { text, messages } = compiled('example.', path);
    expect(messages).toContain('OK');
    expect(canonical('example.', path)).toBe(text);
  });

  it('give the same canonical text: single entries, one by one', { timeout: 300_000 }, () => {
    const entries: string[] = JSON.parse(readFileSync(join(fixtures, 'entries.json'), 'utf8'));
    let accepted = 0;
    for (const entry of entries) {
      const path = write(HEAD + entry);
      const { text } = compiled('example.', path);
      if (text === null) continue;
      accepted++;
      expect(canonical('example.', path), entry).toBe(text);
    }
    expect(conformancePage()).toContain(`${accepted} of ${entries.length} hand-written entries`);
  });

  it('give the same canonical text: random zones', { timeout: 300_000 }, () => {
    const seed = Number(process.env.ZONE_FILE_SEED ?? 1);
    const zones = Number(process.env.ZONE_FILE_ZONES ?? 60);
    let accepted = 0;
    for (let number = 0; number < zones; number++) {
      const path = write(randomZone(randomFrom(seed + number)));
      const { text } = compiled('example.', path);
      // For example two NSEC records at one name, which the reader does not judge.
      if (text === null) continue;
      accepted++;
      expect(canonical('example.', path), `seed ${seed + number}`).toBe(text);
    }
    expect(accepted).toBeGreaterThan(zones * 0.8);
    if (process.env.ZONE_FILE_SEED === undefined && process.env.ZONE_FILE_ZONES === undefined)
      expect(conformancePage()).toContain(`${accepted} of ${zones} random zones`);
  });

  const DEBIAN = [
    ['localhost.', '/etc/bind/db.empty'],
    ['localhost.', '/etc/bind/db.local'],
    ['127.in-addr.arpa.', '/etc/bind/db.127'],
    ['0.in-addr.arpa.', '/etc/bind/db.0'],
    ['255.in-addr.arpa.', '/etc/bind/db.255'],
    ['.', '/usr/share/dns/root.hints'],
    ['.', '/usr/share/dns/root.key'],
    ['.', '/usr/share/dns/root.ds'],
  ] as const;

  it('are these many of Debian', () => {
    expect(conformancePage()).toContain(`${DEBIAN.length} files that Debian's packages ship`);
  });

  for (const [origin, path] of DEBIAN) {
    const isThere = needsFile(path, `${path} of Debian's packages is missing`);
    it(`give the same canonical text: ${origin} from ${path}, as Debian ships it`, isThere, () => {
      // A zone has an SOA record and a name server with an address; hints do not.
      const text = readFileSync(path, 'latin1');
      const file = text.includes('SOA')
        ? path
        : write(`$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.invalid.\na.invalid. A 192.0.2.1\n${text}`);
      const { text: expected } = compiled(origin, file);
      if (expected !== null) expect(canonical(origin, file)).toBe(expected);
      else expect(canonical(origin, file)).toContain('SOA');
    });
  }

  it(
    'give the same canonical text: a zone signed with NSEC and with NSEC3',
    needs('dnssec-signzone', 'dnssec-keygen'),
    () => {
      const hosts = Array.from(
        { length: 100 },
        (_, index) => `h${index} A 192.0.2.${index}\nh${index} TXT "${index}"\n`,
      );
      const path = write(
        `$TTL 300\n${HEAD}${hosts.join('')}sub NS ns.sub\nns.sub A 192.0.2.1\n*.w A 192.0.2.1\n`,
      );
      sign('dnssec-keygen', ['-a', 'ECDSAP256SHA256', 'example.'], directory);
      sign('dnssec-keygen', ['-a', 'ECDSAP256SHA256', '-f', 'KSK', 'example.'], directory);
      for (const options of [[], ['-3', 'aabb', '-A']]) {
        sign('dnssec-signzone', [...options, '-S', '-o', 'example.', '-f', 'signed', path], directory);
        const { text } = compiled('example.', join(directory, 'signed'));
        expect(canonical('example.', join(directory, 'signed'))).toBe(text);
      }
    },
  );

  it('give the same canonical text: a signed zone like the root zone', {
    timeout: 120_000,
    ...needs('dnssec-signzone', 'dnssec-keygen'),
  }, () => {
    const path = write(rootLikeZone(1500));
    for (const role of [[], ['-f', 'KSK']])
      sign('dnssec-keygen', ['-a', 'ECDSAP256SHA256', ...role, '.'], directory);
    sign('dnssec-signzone', ['-S', '-P', '-o', '.', '-f', 'root.signed', path], directory);
    const signed = join(directory, 'root.signed');
    const { text } = compiled('.', signed);
    expect(text).not.toBeNull();
    expect(canonical('.', signed)).toBe(text);
  });

  // No package ships the root zone: who has the file names it. The signed zone above is like it, down to its records.
  const ROOT_ZONE = process.env.ROOT_ZONE ?? '';
  it.each(ROOT_ZONE === '' ? [] : [ROOT_ZONE])('give the same canonical text: the root zone %s', (path) => {
    expect(canonical('.', path)).toBe(compiled('.', path).text);
  });

  it.each([
    [
      'generated data that is not valid, outside of the zone',
      '$GENERATE 1-3 h$.other. A 192.0.2.999\nx 9 A 192.0.2.1\n',
    ],
    ['no $TTL, and an RRset with two TTLs', 'x 60 A 192.0.2.1\nx 30 A 192.0.2.2\n TXT "a"\ny A 192.0.2.3\n'],
    ['no $TTL, and two TTLs of one name', 'x 60 A 192.0.2.1\nx 30 TXT "b"\n AAAA ::1\ny A 192.0.2.3\n'],
    [
      'no $TTL, and a name that comes again',
      'x 60 A 192.0.2.1\ny 30 A 192.0.2.1\nx 20 A 192.0.2.2\nz A 192.0.2.3\n',
    ],
  ])('give the same canonical text: %s', (_case, entries) => {
    const path = write(HEAD + entries);
    const { text, messages } = compiled('example.', path);
    expect(text, messages).not.toBeNull();
    expect(canonical('example.', path)).toBe(text);
  });
});
