/** Every kind of zone cut, in the style of PowerDNS's regression tests: a question, and all that the answer says. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ZoneStore } from '../../src/store/zone-store.ts';
import { record, zone } from '../support/in-process.ts';
import { decoded, query } from '../table/ask.ts';
import type { ModelRecord } from '../table/model.ts';
import { tableReply } from './ask.ts';
import { PARENT, storeOf, writeZoneFiles } from './zones.ts';

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN'];

function textOf({ name, type, data }: ModelRecord): string {
  if (typeof data === 'string') return `${name} ${type} ${data}`;
  const fields = data as Record<string, unknown>;
  const { digest } = fields;
  return `${name} ${type} ${digest instanceof Uint8Array ? digest[0]?.toString(16) : fields.mname}`;
}

/** For example `NOERROR AA | child.cut.test DS aa | |`; name and type are followed by those of `PARENT`. */
function answerOf(store: ZoneStore, name: string, type: string): string {
  const reply = decoded(tableReply(store, query(name, type)));
  const sections = [reply.answers, reply.authorities, reply.additionals].map((records) =>
    records.map(textOf).sort().join(', '),
  );
  const code = `${RCODES[reply.rcode]}${reply.authoritative ? ' AA' : ''}`;
  return [code, ...sections].join(' | ').replaceAll(`.${PARENT}`, '').trim();
}

const SOA = `${PARENT} SOA ns`;
const TO_OTHER =
  'NOERROR |  | other NS ns.child, other NS ns.other, other NS www | ns.child A 192.0.2.10, ns.other A 192.0.2.20, ns.other AAAA 2001:db8::20, www A 192.0.2.2';

const CASES: readonly (readonly [kind: string, name: string, type: string, answer: string])[] = [
  ['DS, both zones served', 'child', 'DS', 'NOERROR AA | child DS aa |  |'],
  ['no DS, both zones served', 'plain', 'DS', `NOERROR AA |  | ${SOA} |`],
  ['DS two zones down', 'grandchild.child', 'DS', 'NOERROR AA | grandchild.child DS cc |  |'],
  ['DS, only the parent served', 'other', 'DS', 'NOERROR AA | other DS bb |  |'],
  ['DS below a cut', 'ns.other', 'DS', TO_OTHER],
  ['DS at the apex of the top zone', '', 'DS', `NOERROR AA |  | ${SOA} |`],
  ['DS, the zone between not served', 'below.gap', 'DS', 'NOERROR |  | gap NS ns.gap | ns.gap A 192.0.2.30'],
  ['NS, both zones served', 'child', 'NS', 'NOERROR AA | child NS ns.child |  | ns.child A 192.0.2.110'],
  ['SOA, both zones served', 'child', 'SOA', 'NOERROR AA | child SOA ns.child |  |'],
  ['glue that the child has too', 'ns.child', 'A', 'NOERROR AA | ns.child A 192.0.2.110 |  |'],
  ['glue that the child has not', 'old.child', 'A', 'NXDOMAIN AA |  | child SOA ns.child |'],
  ['a name of the child', 'www.child', 'A', 'NOERROR AA | www.child A 192.0.2.111 |  |'],
  ['glue, asked for', 'ns.other', 'A', TO_OTHER],
  ['a name that is occluded', 'occluded.other', 'A', TO_OTHER],
  ['a cut below a cut', 'host.below.other', 'A', TO_OTHER],
  ['a name below a cut', 'none.other', 'A', TO_OTHER],
  ['the cut itself', 'other', 'A', TO_OTHER],
  ['the zone between not served', 'gap', 'NS', 'NOERROR |  | gap NS ns.gap | ns.gap A 192.0.2.30'],
  ['a zone without its parent', 'ns.below.gap', 'A', 'NOERROR AA | ns.below.gap A 192.0.2.210 |  |'],
  ['an empty non-terminal above a cut', 'deep', 'A', `NOERROR AA |  | ${SOA} |`],
  ['a name beside the cut below it', 'b.deep', 'A', `NXDOMAIN AA |  | ${SOA} |`],
  ['below an empty non-terminal', 'x.a.deep', 'A', 'NOERROR |  | a.deep NS ns | ns A 192.0.2.1'],
  ['DS below an empty non-terminal', 'a.deep', 'DS', `NOERROR AA |  | ${SOA} |`],
  ['a cut beside a wildcard', 'x.cut.wild', 'TXT', 'NOERROR |  | cut.wild NS ns | ns A 192.0.2.1'],
  ['a name beside a wildcard', 'x.host.wild', 'TXT', `NXDOMAIN AA |  | ${SOA} |`],
  [
    'an alias into a child',
    'to-child',
    'A',
    'NOERROR AA | to-child CNAME www.child, www.child A 192.0.2.111 |  |',
  ],
  [
    'an alias below a cut',
    'to-other',
    'A',
    TO_OTHER.replace('NOERROR | ', 'NOERROR AA | to-other CNAME www.other'),
  ],
];

describe('zones within zones', () => {
  let files: Awaited<ReturnType<typeof writeZoneFiles>>;
  const stores = new Map<string, ZoneStore>();
  beforeAll(async () => {
    files = await writeZoneFiles();
    const { zones } = files;
    stores.set('parents first', await storeOf(zones));
    stores.set('children first', await storeOf(zones.toReversed()));
    stores.set('the middle last', await storeOf([...zones.slice(2), ...zones.slice(0, 2)]));
    stores.set('twice', await storeOf([...zones, ...zones.toReversed()]));
  });
  afterAll(() => files.remove());

  describe.for(['parents first', 'children first', 'the middle last', 'twice'])('loaded %s', (order) => {
    test.for(CASES)('answer: %s (%s %s)', ([_kind, name, type, answer]) => {
      const store = stores.get(order);
      expect(store && answerOf(store, name === '' ? PARENT : `${name}.${PARENT}`, type)).toBe(answer);
    });
  });
});

const DS = { keyTag: 1, algorithm: 8, digestType: 2, digest: Buffer.alloc(32, 0xaa) };
const parent = zone([
  record('sub.example.org', 'NS', 'ns.sub.example.org'),
  record('ns.sub.example.org', 'A', '192.0.2.1'),
]);
const child = zone([record('ns.sub.example.org', 'A', '192.0.2.2')], 'sub.example.org');

describe('a store with a parent and its child', () => {
  const filled = () => {
    const store = new ZoneStore();
    for (const each of [parent, child]) store.addZone(each);
    return store;
  };

  test('changes DS records at the cut on the parent side', () => {
    const store = filled();
    expect(answerOf(store, 'sub.example.org', 'DS')).toBe('NOERROR AA |  | example.org SOA ns.example.net |');
    store.set('sub.example.org', 'DS', DS);
    expect(answerOf(store, 'sub.example.org', 'DS')).toBe('NOERROR AA | sub.example.org DS aa |  |');
    expect(store.get('sub.example.org', 'DS')).toHaveLength(1);
    store.delete('sub.example.org', 'DS');
    expect(store.get('sub.example.org', 'DS')).toBeNull();
  });

  test('shows what the parent holds below the cut again once the child is gone', () => {
    const store = filled();
    const referral = 'NOERROR |  | sub.example.org NS ns.sub.example.org | ns.sub.example.org A 192.0.2.1';
    store.delete('ns.sub.example.org');
    expect(answerOf(store, 'ns.sub.example.org', 'A')).toContain('NXDOMAIN');
    store.delete('sub.example.org', 'SOA');
    expect(answerOf(store, 'ns.sub.example.org', 'A')).toBe(referral);
  });

  test('holds no memory of zones that came and went', () => {
    const store = new ZoneStore();
    const names = ['sub.example.org', 'ns.sub.example.org', 'example.org'];
    const churn = () => {
      store.addZone(child);
      store.addZone(parent);
      for (const name of names) store.delete(name);
      return store.data.byteLength;
    };
    const before = churn();
    for (let count = 0; count < 1000; count++) churn();
    expect(churn()).toBe(before);
    expect(store.data.names.size).toBe(1);
  });
});

test('records that are added one by one belong to the nearest zone, and DS records to the one above', () => {
  const store = new ZoneStore();
  const soa = { mname: 'ns', rname: 'host', serial: 1 };
  store.append('sub.example.org', 'DS', DS);
  store.append('sub.example.org', 'NS', 'ns.sub.example.org');
  for (const apex of ['sub.example.org', 'example.org']) store.append(apex, 'SOA', soa);
  expect(answerOf(store, 'sub.example.org', 'DS')).toBe('NOERROR AA | sub.example.org DS aa |  |');
  expect(answerOf(store, 'sub.example.org', 'NS')).toBe(
    'NOERROR AA | sub.example.org NS ns.sub.example.org |  |',
  );
});
