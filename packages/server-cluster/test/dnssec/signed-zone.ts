/** A zone with everything that is denied in its own way, signed by BIND's or NLnet Labs' tool. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf } from '@dinodns-bench/test-support';
import { LOWER_CASE } from '@dinodns-bench/wire';
import { readZoneFile } from '@dinodns-bench/zones';
import { ZoneStore } from '../../src/store/zone-store.ts';
import type { StoredRecord } from '../../src/table/record-sets.ts';

export const ZONE = 'signed.test';

const RECORDS = `$ORIGIN ${ZONE}.
$TTL 300
@ SOA ns admin 1 7200 3600 1209600 120
@ NS ns
@ NS ns.example.net.
ns A 192.0.2.1
www A 192.0.2.2
www AAAA 2001:db8::2
txt TXT "x"
@ MX 10 www
alias CNAME www
gone CNAME missing
away CNAME www.example.net.
*.wild A 192.0.2.3
*.wild TXT "wild"
here.wild TXT "here"
*.alias-wild CNAME www
to-wild CNAME a.wild
a.ent.deep A 192.0.2.4
old DNAME deep
to-old CNAME x.old
secure NS ns.secure
secure DS 4711 13 2 ${'AB'.repeat(32)}
ns.secure A 192.0.2.5
insecure NS ns.insecure
ns.insecure A 192.0.2.6
z A 192.0.2.9
`;

/** Names to ask for, relative to the zone; empty for the zone itself. */
export const NAMES = [
  '',
  ...['ns', 'www', 'txt', 'alias', 'gone', 'away', 'z', 'missing', 'a.missing', '0', 'zz', 'WWW', 'x.www'],
  ...['wild', 'a.wild', 'b.a.wild', 'here.wild', 'x.here.wild', '*.wild', 'x.alias-wild', 'to-wild'],
  ...['deep', 'ent.deep', 'a.ent.deep', 'b.ent.deep', 'old', 'x.old', 'ent.old', 'a.ent.old', 'to-old'],
  ...['secure', 'www.secure', 'ns.secure', 'insecure', 'www.insecure', 'ns.insecure'],
];

export const TYPES = [
  'A',
  'AAAA',
  'TXT',
  'NS',
  'SOA',
  'MX',
  'CNAME',
  'DS',
  'DNSKEY',
  'DNAME',
  'NSEC',
  'NSEC3PARAM',
];

/** How a zone is signed: what follows the tool's name, without keys and files. */
export const SIGNINGS = [
  { name: 'NSEC', tool: 'dnssec-signzone', options: [] },
  { name: 'NSEC3', tool: 'dnssec-signzone', options: ['-3', 'abcd', '-H', '2'] },
  { name: 'NSEC3 with opt-out', tool: 'dnssec-signzone', options: ['-3', '-', '-H', '0', '-A'] },
  { name: 'NSEC by ldns', tool: 'ldns-signzone', options: [] },
  { name: 'NSEC3 by ldns', tool: 'ldns-signzone', options: ['-n', '-t', '1'] },
] as const;

function run(command: string, args: readonly string[], directory: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: directory,
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Makes keys and the signed zone's file in a directory. Returns the file's path and the key that validators trust. */
export async function signZone(
  { tool, options }: (typeof SIGNINGS)[number],
  directory: string,
): Promise<{ file: string; anchor: string }> {
  const keygen = pathOf('dnssec-keygen');
  for (const role of [[], ['-f', 'KSK']]) {
    run(keygen, ['-q', '-a', 'ECDSAP256SHA256', ...role, '-n', 'ZONE', ZONE], directory);
  }
  const keys = (await readdir(directory)).filter((name) => name.endsWith('.key'));
  const texts = await Promise.all(keys.map((name) => readFile(join(directory, name), 'utf8')));
  await writeFile(join(directory, 'zone'), `${RECORDS}${texts.join('')}`);
  const names = keys.map((name) => name.slice(0, -4));
  const args = tool === 'dnssec-signzone' ? ['-S', '-O', 'full'] : [];
  run(
    pathOf(tool),
    [
      ...args,
      ...options,
      '-o',
      ZONE,
      '-f',
      'zone.signed',
      'zone',
      ...(tool === 'ldns-signzone' ? names : []),
    ],
    directory,
  );
  const anchor = texts.find((text) => / 257 3 13 /.test(text)) ?? '';
  return {
    file: join(directory, 'zone.signed'),
    anchor: anchor.split('\n').find((line) => / 257 3 13 /.test(line)) ?? '',
  };
}

export function storeOf(file: string): ZoneStore {
  const owners = new Map<string, { name: Uint8Array; types: Map<number, StoredRecord[]> }>();
  for (const { name, type, ttl, data } of readZoneFile(file, { origin: `${ZONE}.` })) {
    const owner = Buffer.from(name.map((byte) => LOWER_CASE[byte] ?? 0));
    const key = owner.toString('latin1');
    const entry = owners.get(key) ?? { name: owner, types: new Map<number, StoredRecord[]>() };
    entry.types.set(type, [...(entry.types.get(type) ?? []), { ttl, data: Buffer.from(data) }]);
    owners.set(key, entry);
  }
  const store = new ZoneStore();
  for (const { name, types } of owners.values()) {
    store.data.write(
      name,
      Array.from(types, ([type, records]) => ({ type, records })),
    );
  }
  return store;
}
