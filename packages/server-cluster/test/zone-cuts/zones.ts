/** Zones within zones, with every kind of zone cut between them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadZoneFile } from '../../src/store/load.ts';
import { ZoneStore } from '../../src/store/zone-store.ts';

export const PARENT = 'cut.test';

const digest = (byte: string) => `4711 13 2 ${byte.repeat(32)}`;

/** What every zone begins with. Names in the data are relative. */
const HEAD = '$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 120\n';

const PARENT_RECORDS = `${HEAD}@ NS ns
ns A 192.0.2.1
www A 192.0.2.2

; served, signed
child NS ns.child
child NS ns.other
child DS ${digest('aa')}
ns.child A 192.0.2.10
old.child A 192.0.2.11

; served, not signed
plain NS ns.plain
ns.plain A 192.0.2.12

; not served: with glue, with a name that is not glue, and with the glue of siblings
other NS ns.other
other NS ns.child
other NS www
other DS ${digest('bb')}
ns.other A 192.0.2.20
ns.other AAAA 2001:db8::20
occluded.other A 192.0.2.21
below.other NS ns.other

; not served, but the zone below it is
gap NS ns.gap
ns.gap A 192.0.2.30

; a cut below an empty non-terminal, and one beside a wildcard
a.deep NS ns
*.wild TXT "wild"
cut.wild NS ns
host.wild A 192.0.2.40
to-child CNAME www.child
to-other CNAME www.other
`;

const CHILD_RECORDS = `${HEAD}@ NS ns
ns A 192.0.2.110
www A 192.0.2.111
@ MX 10 www
grandchild NS ns.grandchild
grandchild DS ${digest('cc')}
ns.grandchild A 192.0.2.112
back CNAME www.${PARENT}.
`;

const SMALL_RECORDS = `${HEAD}@ NS ns
ns A 192.0.2.210
`;

/** The zones by name, and their files' text. */
export const ZONES: ReadonlyMap<string, string> = new Map([
  [PARENT, PARENT_RECORDS],
  [`child.${PARENT}`, CHILD_RECORDS],
  [`grandchild.child.${PARENT}`, SMALL_RECORDS],
  [`plain.${PARENT}`, SMALL_RECORDS],
  [`below.gap.${PARENT}`, SMALL_RECORDS],
  // Neither has a parent that we serve.
  ['alone.example', SMALL_RECORDS],
  ['a.b.alone.example', SMALL_RECORDS],
]);

export const TYPES = ['A', 'AAAA', 'NS', 'DS', 'SOA', 'TXT', 'MX'];

const PARENT_NAMES = [
  ...['', 'ns', 'www', 'none', 'a.none', 'child', 'ns.child', 'old.child', 'none.child', 'www.child'],
  ...['back.child', 'grandchild.child', 'ns.grandchild.child', 'none.grandchild.child'],
  ...['plain', 'ns.plain', 'none.plain', 'other', 'ns.other', 'occluded.other', 'below.other'],
  ...['host.below.other', 'none.other', 'gap', 'ns.gap', 'below.gap', 'ns.below.gap', 'none.below.gap'],
  ...['deep', 'a.deep', 'x.a.deep', 'b.deep', 'wild', 'x.wild', 'cut.wild', 'x.cut.wild', 'host.wild'],
  ...['x.host.wild', '*.wild', 'to-child', 'to-other'],
];

export const NAMES: readonly string[] = [
  ...PARENT_NAMES.map((name) => (name === '' ? PARENT : `${name}.${PARENT}`)),
  ...['alone.example', 'ns.alone.example', 'b.alone.example', 'a.b.alone.example', 'none.alone.example'],
];

export interface ZoneOnDisk {
  readonly zone: string;
  readonly file: string;
}

/** The zones as files; `remove` deletes them. */
export async function writeZoneFiles(): Promise<{
  directory: string;
  zones: ZoneOnDisk[];
  remove(): Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'cuts-'));
  await mkdir(join(directory, 'zones'));
  const zones = [...ZONES.keys()].map((zone) => ({ zone, file: join(directory, 'zones', `${zone}.zone`) }));
  for (const { zone, file } of zones) await writeFile(file, ZONES.get(zone) ?? '');
  return { directory, zones, remove: () => rm(directory, { recursive: true, force: true }) };
}

export async function storeOf(zones: readonly ZoneOnDisk[]): Promise<ZoneStore> {
  const store = new ZoneStore();
  for (const { zone, file } of zones) await loadZoneFile(store, file, { origin: `${zone}.` });
  return store;
}
