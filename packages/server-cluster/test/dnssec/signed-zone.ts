/** A zone with everything that is denied in its own way, signed by BIND's or NLnet Labs' tool. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf } from '@dinodns-bench/test-support';

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
x.*.empty-wild A 192.0.2.10
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

interface SignedZone {
  readonly file: string;
  /** The key that validators trust, as a line of a zone file. */
  readonly anchor: string;
}

/**
 * Makes keys and the signed file of a zone in a directory. With `isParent`, DS records are made for the zones below it
 * that were signed in the same directory (`dnssec-signzone` only).
 */
export async function signZone(
  { tool, options }: Pick<(typeof SIGNINGS)[number], 'tool' | 'options'>,
  directory: string,
  { zone = ZONE, records = RECORDS, isParent = false } = {},
): Promise<SignedZone> {
  const keygen = pathOf('dnssec-keygen');
  for (const role of [[], ['-f', 'KSK']]) {
    run(keygen, ['-q', '-a', 'ECDSAP256SHA256', ...role, '-n', 'ZONE', zone], directory);
  }
  const keys = (await readdir(directory)).filter(
    (name) => name.startsWith(`K${zone}.+`) && name.endsWith('.key'),
  );
  const texts = await Promise.all(keys.map((name) => readFile(join(directory, name), 'utf8')));
  await writeFile(join(directory, zone), `${records}${texts.join('')}`);
  const isLdns = tool === 'ldns-signzone';
  const before = [...(isLdns ? [] : ['-S', '-O', 'full']), ...(isParent ? ['-g'] : []), ...options];
  const names = isLdns ? keys.map((name) => name.slice(0, -4)) : [];
  run(pathOf(tool), [...before, '-o', zone, '-f', `${zone}.signed`, zone, ...names], directory);
  const anchor = texts.flatMap((text) => text.split('\n')).find((line) => / 257 3 13 /.test(line)) ?? '';
  return { file: join(directory, `${zone}.signed`), anchor };
}
