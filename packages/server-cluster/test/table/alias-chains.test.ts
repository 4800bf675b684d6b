/** Chains of CNAME and DNAME records: no record twice, and no pointer that cannot reach its name. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipName } from '@dinodns-bench/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAnswerTable, loadZoneFile, ZoneStore } from '../../src/index.ts';
import type { Responder } from '../../src/table/responder.ts';
import { opt } from '../support/client.ts';
import { answerTo, decoded, query } from './ask.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'chains-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const HEAD =
  '$ORIGIN chain.test.\n$TTL 60\n@ SOA ns.invalid. host.invalid. 1 7200 3600 1209600 300\n@ NS ns.invalid.\n';

async function tableOf(records: string): Promise<Responder> {
  const file = join(directory, 'chain.test.zone');
  writeFileSync(file, HEAD + records);
  const store = new ZoneStore();
  await loadZoneFile(store, file);
  return createAnswerTable(store);
}

function signature(type: string, bytes: number): string {
  const data = Buffer.alloc(bytes, 7).toString('base64');
  return `RRSIG ${type} 13 3 60 20300101000000 20200101000000 1 chain.test. ${data}`;
}

/** The records of a reply as they are in it; throws for a pointer that does not point back. */
function records(reply: Buffer | number): string[] {
  if (typeof reply === 'number') throw new Error(`no reply but ${reply}`);
  const count = reply.readUInt16BE(6) + reply.readUInt16BE(8) + reply.readUInt16BE(10);
  let at = skipName(reply, 12) + 4;
  return Array.from({ length: count }, () => {
    const owner = nameAt(reply, at);
    const type = skipName(reply, at);
    expect(type).toBeGreaterThan(0);
    const end = type + 10 + reply.readUInt16BE(type + 8);
    expect(end).toBeLessThanOrEqual(reply.length);
    const data = [5, 39].includes(reply.readUInt16BE(type))
      ? nameAt(reply, type + 10)
      : reply.subarray(type + 10, end).toString('hex');
    at = end;
    return `${owner} ${reply.readUInt16BE(type)} ${data}`;
  });
}

function nameAt(reply: Buffer, start: number): string {
  const labels: string[] = [];
  for (let at = start; ; ) {
    const length = reply[at] ?? 0;
    if (length === 0) return labels.join('.');
    if (length >= 0xc0) {
      const target = reply.readUInt16BE(at) & 0x3fff;
      expect(target).toBeLessThan(at);
      at = target;
      continue;
    }
    labels.push(reply.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
}

test('signatures of nothing are there once', async () => {
  const table = await tableOf(`a ${signature('A', 8)}\n`);
  for (const type of ['ANY', 'RRSIG']) {
    const reply = answerTo(
      table,
      query('a.chain.test', type, { additionals: [opt(4096, { flags: 0x8000 })] }),
    );
    expect(decoded(reply).answers).toHaveLength(1);
  }
});

test('a chain whose names no pointer reaches ends there, and the resolver goes on', async () => {
  // 15 signed records of 2.5 kB each: the target of the eighth is beyond 16 KiB.
  const links = Array.from(
    { length: 15 },
    (_, index) => `n${index} CNAME n${index + 1}\nn${index} ${signature('CNAME', 2500)}\n`,
  );
  const table = await tableOf(`${links.join('')}n15 A 192.0.2.1\n`);
  const reply = answerTo(
    table,
    query('n0.chain.test', 'A', { additionals: [opt(4096, { flags: 0x8000 })] }),
    'stream',
  );
  const answer = records(reply).filter((record) => record.split(' ')[1] === '5');
  expect(answer).toEqual(answer.map((_, index) => `n${index}.chain.test 5 n${index + 1}.chain.test`));
  expect(answer.length).toBeGreaterThanOrEqual(6);
  expect(decoded(reply)).toMatchObject({ rcode: 0, truncated: false, authoritative: true });
});

test.each(['DNAME', 'ANY'])(
  'a chain that ends at the owner of its DNAME record has it once (%s)',
  async (type) => {
    const table = await tableOf('old DNAME new\nx.new CNAME old\n');
    const found = records(answerTo(table, query('x.old.chain.test', type)));
    expect(found).toEqual([
      'old.chain.test 39 new.chain.test',
      'x.old.chain.test 5 x.new.chain.test',
      'x.new.chain.test 5 old.chain.test',
    ]);
  },
);

test('so it is with signatures, also where only those are asked for', async () => {
  const table = await tableOf(
    `old DNAME new\nold ${signature('DNAME', 64)}\nx.new CNAME old\nx.new ${signature('CNAME', 64)}\n`,
  );
  for (const type of ['DNAME', 'ANY']) {
    const found = records(
      answerTo(table, query('x.old.chain.test', type, { additionals: [opt(4096, { flags: 0x8000 })] })),
    );
    expect(found.slice(0, -1), type).toHaveLength(5);
    expect(new Set(found).size).toBe(found.length);
  }
});
