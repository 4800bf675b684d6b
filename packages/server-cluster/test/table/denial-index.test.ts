/** The order of names for denials is there when a zone is loaded, and stays right when names come and go. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '@dinodns-bench/test-support';
import { encodeName, nameText, TYPE } from '@dinodns-bench/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnswerTable, loadZoneFile, ZoneStore } from '../../src/index.ts';
import { DenialIndex } from '../../src/table/denial-index.ts';
import { Lookup } from '../../src/table/find.ts';
import { NameSearch } from '../../src/table/name-search.ts';
import { labelOffsets } from '../../src/table/name-tree.ts';
import { ZoneData } from '../../src/table/zone-data.ts';
import { opt } from '../support/client.ts';
import { answerTo, decoded, query } from './ask.ts';

const HEAD =
  '$ORIGIN signed.test.\n$TTL 60\n@ SOA ns host 1 7200 3600 1209600 300\n@ NS ns\n@ NSEC a SOA NS RRSIG NSEC\n';
const SIGNATURE = `RRSIG SOA 13 2 60 20300101000000 20200101000000 1 signed.test. ${Buffer.alloc(64).toString('base64')}`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'denial-index-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function storeOf(names: readonly string[]): Promise<ZoneStore> {
  const file = join(directory, 'signed.zone');
  writeFileSync(file, `${HEAD}@ ${SIGNATURE}\n${names.map((name) => `${name} NSEC @ NSEC\n`).join('')}`);
  const store = new ZoneStore();
  await loadZoneFile(store, file, { origin: 'signed.test.' });
  return store;
}

const nodesOf = ({ data }: ZoneStore) => {
  const apex = data.names.find(encodeName('signed.test'));
  return { kept: data.denials.of(apex)?.nodes, anew: new DenialIndex(data).of(apex)?.nodes };
};

const someNames = (count: number) => {
  const random = randomFrom(7);
  return Array.from(
    { length: count },
    (_, index) => `${'abcdef'[random(6)]}${index}${random(3) === 0 ? '.ent' : ''}`,
  );
};

test('a zone of many slices is in canonical order', async () => {
  const store = await storeOf(someNames(9000));
  const { names } = store.data;
  const keys = [...(nodesOf(store).kept ?? [])].map((node) =>
    nameText(names.nameOf(node), 0).split('.').reverse().join('\0'),
  );
  expect(keys).toHaveLength(9001);
  expect(keys).toEqual(keys.toSorted());
});

test('a name that only holds NSEC3 records encloses no other', async () => {
  const hash = '0'.repeat(32);
  const file = join(directory, 'hashed.zone');
  const records = `* TXT any\n@ NSEC3PARAM 1 0 0 -\n${hash} NSEC3 1 0 0 - ${hash} SOA NS\n`;
  writeFileSync(file, `${HEAD.replace(/@ NSEC .*\n/, '')}${records}`);
  const store = new ZoneStore();
  await loadZoneFile(store, file, { origin: 'signed.test.' });
  const table = createAnswerTable(store);
  for (const name of [hash, `x.${hash}`, `x.y.${hash}`]) {
    const { answers } = decoded(answerTo(table, query(`${name}.signed.test`, 'TXT')));
    expect(answers).toMatchObject([{ name: `${name}.signed.test`, type: 'TXT' }]);
  }
});

test('the order after changes is that of building it anew', async () => {
  const store = await storeOf(someNames(300));
  expect(nodesOf(store).kept).toHaveLength(301);
  const { data } = store;
  const random = randomFrom(3);
  const nsec = {
    type: TYPE.NSEC,
    records: [{ ttl: 60, data: Buffer.concat([encodeName('signed.test'), Buffer.of(0, 1, 64)]) }],
  };
  for (let round = 0; round < 200; round++) {
    const name = encodeName(
      `${'abcdef'[random(6)]}${random(320)}${random(3) === 0 ? '.ent' : ''}.signed.test`,
    );
    data.write(name, random(2) === 0 ? [] : [nsec]);
    // In between, many changes without a look-up.
    if (round % 70 === 0 || round < 100) {
      const { kept, anew } = nodesOf(store);
      expect(kept).toEqual(anew);
    }
  }
});

test('the first denial after a load, and after a change, orders nothing', async () => {
  const store = await storeOf(someNames(40_000));
  const table = createAnswerTable(store);
  const denied = () => {
    // CPU time: on a busy machine, a pause of 60 ms may fall into it.
    const begin = process.threadCpuUsage();
    const reply = answerTo(
      table,
      query('zzz.signed.test', 'A', { additionals: [opt(4096, { flags: 0x8000 })] }),
    );
    const { user, system } = process.threadCpuUsage(begin);
    expect(decoded(reply).authorities.map(({ type }) => type)).toContain('NSEC');
    return (user + system) / 1000;
  };
  // To order 40,000 names takes 300 ms.
  expect(denied()).toBeLessThan(60);
  store.data.write(encodeName('new.signed.test'), []);
  store.set('new.signed.test', 'A', '192.0.2.1');
  expect(denied()).toBeLessThan(60);
  createAnswerTable(store);
  expect(denied()).toBeLessThan(60);
}, 60_000);

// The names of RFC 5155, appendix A.
test.each([
  ['example', '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom'],
  ['a.example', '35mthgpgcu1qg68fab165klnsnk3dpvl'],
  ['AI.example', 'gjeqe526plbf1g8mklp59enfd789njgi'],
  ['*.w.example', 'r53bq7cc2uvmubfu5ocmm6pers9tk9en'],
  ['2t7b4g4vsa5smi47k61mv5bv1a22bojr.example', 'kohar7mbb8dc2ce8a9qvl8hon4k53uhi'],
])('%s is found by its NSEC3 hash', (name, hash) => {
  const lookup = new Lookup(new ZoneData());
  lookup.bytes = encodeName(name);
  lookup.labels = Uint16Array.from([...labelOffsets(lookup.bytes), lookup.bytes.length - 1]);
  lookup.labelCount = lookup.labels.length - 1;
  const node = lookup.data.names.ensure(encodeName(`${hash}.example`));
  const search = new NameSearch(lookup);
  const salt = Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd);
  search.begin({ nodes: Int32Array.of(node), hashing: { salt, iterations: 12 } });
  expect(search.matching(0, false)).toBe(node);
});

/** The owners of the records that prove that there is no address. */
function proofsOf(store: ZoneStore, name: string): string[] {
  const message = query(name, 'A', { additionals: [opt(1232, { flags: 0x8000 })] });
  const { authorities } = decoded(answerTo(createAnswerTable(store), message, 'stream'));
  const isProof = ({ type }: { type: string }) => type === 'NSEC' || type === 'NSEC3';
  return [...new Set(authorities.filter(isProof).map(({ name }) => name))];
}

test('a wildcard that holds nothing is proved to exist by the record before it', async () => {
  const store = await storeOf(['a', 'x.*.b']);
  expect(proofsOf(store, 'q.b.signed.test')).toEqual(['x.*.b.signed.test', 'a.signed.test']);
});

test('of several chains of NSEC3 records, and beside NSEC records, those that NSEC3PARAM names prove', async () => {
  const hash = (digit: string) => digit.repeat(32);
  const chain = (digit: string, salt: string) =>
    `${hash(digit)} NSEC3 1 0 0 ${salt} ${hash(digit)} A\n${hash(digit)} ${SIGNATURE.replace('SOA', 'NSEC3')}\n`;
  const store = new ZoneStore();
  const load = async (parameters: string) => {
    const file = join(directory, 'chains.zone');
    writeFileSync(file, `${HEAD}@ ${SIGNATURE}\n${chain('1', 'aa')}${chain('2', 'bb')}${parameters}`);
    const fresh = new ZoneStore();
    await loadZoneFile(fresh, file, { origin: 'signed.test.' });
    store.replaceWith(fresh);
  };
  const proofs = () => proofsOf(store, 'missing.signed.test');
  await load('');
  expect(proofs()).toEqual(['signed.test']);
  await load('@ NSEC3PARAM 1 0 0 bb\n');
  expect(proofs()).toEqual([`${hash('2')}.signed.test`]);
  // With flags it is not in use yet.
  await load('@ NSEC3PARAM 1 1 0 bb\n@ NSEC3PARAM 1 0 0 aa\n');
  expect(proofs()).toEqual([`${hash('1')}.signed.test`]);
  // A change is in the next answer.
  const apex = encodeName('signed.test');
  const known = store.data.readNode(store.data.names.find(apex));
  const others = known.filter(({ type }) => type !== TYPE.NSEC3PARAM);
  const salt = { type: TYPE.NSEC3PARAM, records: [{ ttl: 60, data: Buffer.from('0100000001bb', 'hex') }] };
  store.data.write(apex, [...others, salt]);
  expect(proofs()).toEqual([`${hash('2')}.signed.test`]);
});
