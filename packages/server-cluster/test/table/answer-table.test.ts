/** What the table guarantees, feature by feature. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EDNS_OPTION, encodeName, encodeOpt, encodeQuery, RCODE } from '@dinodns-bench/wire';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';
import { describe, expect, test } from 'vitest';
import { loadZoneFile } from '../../src/index.ts';
import { ZoneStore } from '../../src/store/zone-store.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { DROP, type Responder, TO_FRAMEWORK } from '../../src/table/responder.ts';
import { opt } from '../support/client.ts';
import { record, zone } from '../support/in-process.ts';
import { answerTo, decoded, query } from './ask.ts';

/** Four labels that make 255 bytes. */
const LONG = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), `d${'e'.repeat(47)}`, 'example.org'].join('.');

function storeOf(...records: Parameters<typeof zone>[0][number][]): ZoneStore {
  const store = new ZoneStore();
  store.addZone(zone(records));
  return store;
}

function tableOf(...records: Parameters<typeof zone>[0][number][]): Responder {
  return createAnswerTable(storeOf(...records));
}

/** A query for a name with escapes, which the encoder of `dns-packet` does not know. */
function queryFor(name: string): Buffer {
  const plain = query('.', 'A');
  return Buffer.concat([plain.subarray(0, 12), encodeName(name), plain.subarray(13)]);
}

test('the question is echoed in its own case, with ID and RD', () => {
  const message = query('WwW.eXaMpLe.OrG', 'A');
  const reply = answerTo(tableOf(record('www.example.org', 'A', '192.0.2.1')), message);
  if (typeof reply === 'number') throw new Error('no reply');
  expect(reply.subarray(0, 2)).toEqual(message.subarray(0, 2));
  expect(reply.readUInt16BE(2)).toBe(0x8500);
  expect(reply.subarray(12, message.length)).toEqual(message.subarray(12));
  // The answer's owner is a pointer to it.
  expect(reply.readUInt16BE(message.length)).toBe(0xc00c);
});

test.each([
  ['a dot in a label', 'a\\.b.example.org'],
  ['non-ASCII bytes', '\\255\\000\\001.example.org'],
  ['a space and a backslash', 'x\\032\\092.example.org'],
  ['255 bytes', LONG],
])('a name with %s is found', (_case, name) => {
  const reply = answerTo(tableOf(record(name, 'A', '192.0.2.7')), queryFor(name));
  if (typeof reply === 'number') throw new Error('no reply');
  expect(reply.readUInt16BE(6)).toBe(1);
  expect(reply.subarray(-4)).toEqual(Buffer.from([192, 0, 2, 7]));
});

test('names with escapes in data are bytes on the wire, and text from the store', () => {
  const store = storeOf(record('x.example.org', 'CNAME', 'a\\.b.example.net'));
  const reply = answerTo(createAnswerTable(store), query('x.example.org', 'CNAME'));
  if (typeof reply === 'number') throw new Error('no reply');
  expect(reply.includes(Buffer.from('\x03a.b\x07example\x03net\0'))).toBe(true);
  expect(store.get('x.example.org', 'CNAME')).toEqual(['a\\046b.example.net']);
});

test('names in answers are compressed where RFC 3597 allows it, and nowhere else', () => {
  const table = tableOf(
    record('example.org', 'NS', 'ns.example.org'),
    record('example.org', 'MX', { preference: 1, exchange: 'mail.example.org' }),
    record('_s._tcp.example.org', 'SRV', { priority: 1, weight: 2, port: 3, target: 'host.example.org' }),
  );
  const size = (name: string, type: string) => {
    const reply = answerTo(table, query(name, type));
    return typeof reply === 'number' ? reply : reply.length - query(name, type).length;
  };
  // Twelve bytes before the data; `ns` and `mail`, each followed by a pointer; and a preference.
  expect(size('example.org', 'NS')).toBe(12 + 3 + 2);
  expect(size('example.org', 'MX')).toBe(12 + 2 + 5 + 2);
  expect(size('_s._tcp.example.org', 'SRV')).toBe(12 + 6 + 'host.example.org'.length + 2);
});

describe('EDNS', () => {
  const table = tableOf(record('www.example.org', 'A', '192.0.2.1'));
  const ask = (more: object) => decoded(answerTo(table, query('www.example.org', 'A', more)));

  test('an OPT record gets one with the same DO and our size; unknown options are ignored', () => {
    const options = [{ code: 65_001, data: Buffer.alloc(9) }];
    for (const flags of [0, 0x8000]) {
      const { opt: ours, answers } = ask({ additionals: [opt(4096, { flags, options })] });
      expect(ours).toMatchObject({ udpPayloadSize: 1232, ednsVersion: 0, flags, options: [] });
      expect(answers).toHaveLength(1);
    }
    expect(ask({}).opt).toBeUndefined();
  });

  test('an unknown version gets BADVERS and our version, whatever its options', () => {
    const message = query('www.example.org', 'A', { additionals: [opt(4096, { ednsVersion: 3 })] });
    const odd = Buffer.concat([message, Buffer.from([1, 2, 3])]);
    odd.writeUInt16BE(3, message.length - 2);
    for (const each of [message, odd]) {
      const reply = decoded(answerTo(table, each));
      expect(reply.opt).toMatchObject({ extendedRcode: 1, ednsVersion: 0 });
      expect(reply.answers).toEqual([]);
    }
  });

  test('EDNS data of one query does not affect the next', () => {
    const many = Array.from({ length: 40 }, (_, index) => record('www.example.org', 'A', `192.0.2.${index}`));
    const large = tableOf(...many);
    const withOpt = query('www.example.org', 'A', { additionals: [opt(1232, { flags: 0x8000 })] });
    expect(decoded(answerTo(large, withOpt))).toMatchObject({ truncated: false });
    expect(decoded(answerTo(large, query('www.example.org', 'A')))).toMatchObject({
      truncated: true,
      answers: [],
    });
  });

  test('the size that we advertise is configurable', () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      record('www.example.org', 'A', `192.0.2.${index}`),
    );
    const message = query('www.example.org', 'A', { additionals: [opt(4096)] });
    const store = storeOf(...many);
    expect(decoded(answerTo(createAnswerTable(store), message)).truncated).toBe(true);
    const reply = decoded(answerTo(createAnswerTable(store, { maxUdpBytes: 4096 }), message));
    expect(reply).toMatchObject({ truncated: false, opt: { udpPayloadSize: 4096 } });
    expect(reply.answers).toHaveLength(100);
    for (const maxUdpBytes of [511, 65_536, 1000.5]) {
      expect(() => createAnswerTable(store, { maxUdpBytes })).toThrow(/maxUdpBytes/);
    }
  });
});

test('a stream carries up to 65,535 bytes; beyond that TC is set', () => {
  const texts = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      record('x.example.org', 'TXT', `${index}`.padStart(243, '.')),
    );
  const ask = (count: number) =>
    decoded(answerTo(tableOf(...texts(count)), query('x.example.org', 'TXT'), 'stream'));
  expect(ask(255)).toMatchObject({ truncated: false });
  expect(ask(255).answers).toHaveLength(255);
  expect(ask(256)).toMatchObject({ truncated: true, answers: [] });
});

test('the largest record that can be loaded is served over a stream, with a cookie, under the longest name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'largest-'));
  try {
    const file = join(directory, 'example.org.zone');
    writeFileSync(
      file,
      `$TTL 60\n@ SOA ns.invalid. host.invalid. 1 7200 3600 1209600 300\n@ NS ns.invalid.\n${LONG}. TYPE65280 \\# 65213 ${'ab'.repeat(65_213)}\n`,
    );
    const store = new ZoneStore();
    await loadZoneFile(store, file);
    const cookie = encodeOpt({ options: [{ code: EDNS_OPTION.cookie, data: Buffer.alloc(8) }] });
    const message = encodeQuery({ id: 1, name: encodeName(LONG), type: 65_280, opt: cookie });
    const reply = answerTo(createAnswerTable(store), message, 'stream');
    if (typeof reply === 'number') throw new Error('no reply');
    expect([reply.readUInt16BE(2) & 0x0200, reply.readUInt16BE(6)]).toEqual([0, 1]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a response, and less than a header, are dropped', () => {
  const table = tableOf();
  const response = query('example.org', 'SOA');
  response.writeUInt8(0x81, 2);
  expect(answerTo(table, response)).toBe(DROP);
  for (const length of [0, 1, 11]) expect(answerTo(table, query('a.b', 'A').subarray(0, length))).toBe(DROP);
});

test('names outside of all zones are refused, denied, or left to the framework', () => {
  const store = storeOf();
  const codes = (['refuse', 'nxdomain'] as const).map(
    (outside) => decoded(answerTo(createAnswerTable(store, { outside }), query('example.net', 'A'))).rcode,
  );
  expect(codes).toEqual([5, 3]);
  expect(answerTo(createAnswerTable(store, { outside: 'framework' }), query('example.net', 'A'))).toBe(
    TO_FRAMEWORK,
  );
});

test('the next answer reflects a change or a replacement of the store', () => {
  const store = storeOf();
  const table = createAnswerTable(store);
  const answers = () =>
    decoded(answerTo(table, query('www.example.org', 'A'))).answers.map(({ data }) => data);
  expect(answers()).toEqual([]);
  store.set('www.example.org', 'A', '192.0.2.1');
  expect(answers()).toEqual(['192.0.2.1']);
  store.append('WWW.example.org', 'A', '192.0.2.2');
  expect(answers()).toEqual(['192.0.2.1', '192.0.2.2']);
  store.delete('www.example.org', 'A', '192.0.2.1');
  expect(answers()).toEqual(['192.0.2.2']);
  store.replaceWith(storeOf(record('www.example.org', 'A', '192.0.2.9')));
  expect(answers()).toEqual(['192.0.2.9']);
});

describe("the framework's own store", () => {
  test('follows changes; keys that differ in case are one name', () => {
    const store = new DefaultStore();
    store.set('Example.org', 'A', '192.0.2.1');
    const table = createAnswerTable(store, { outside: 'framework' });
    const answers = (name: string) => {
      const reply = answerTo(table, query(name, 'A'));
      return reply === TO_FRAMEWORK ? null : decoded(reply).answers.map(({ data }) => data);
    };
    expect(answers('EXAMPLE.org')).toEqual(['192.0.2.1']);
    store.set('example.org', 'A', '192.0.2.2');
    expect(answers('example.org')).toEqual(['192.0.2.2']);
    store.delete('example.org');
    expect(answers('example.org')).toEqual(['192.0.2.1']);
    store.delete('Example.org');
    expect(answers('example.org')).toBeNull();
  });

  test('with records that cannot be encoded, or caches to notify, is left to the framework', () => {
    const store = new DefaultStore();
    store.set('example.org', 'A', 'no address');
    store.set('example.net', 'A', '192.0.2.1');
    const table = createAnswerTable(store);
    expect(answerTo(table, query('example.org', 'A'))).toBe(TO_FRAMEWORK);
    expect(decoded(answerTo(table, query('example.net', 'A'))).answers).toHaveLength(1);
    store.shouldCache = true;
    expect(answerTo(table, query('example.net', 'A'))).toBe(TO_FRAMEWORK);
  });
});

describe('DNAME', () => {
  const long = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), 'd'.repeat(40)].join('.');
  const table = tableOf(
    record('old.example.org', 'DNAME', 'new.example.org', 77),
    record('old.example.org', 'TXT', 'the owner itself'),
    record('www.new.example.org', 'A', '192.0.2.1'),
    record('to-old.example.org', 'CNAME', 'www.old.example.org'),
    record('twice.example.org', 'DNAME', 'old.example.org'),
    record('loop.example.org', 'DNAME', 'x.loop.example.org'),
    record('circle.example.org', 'DNAME', 'circle.example.org'),
    record('away.example.org', 'DNAME', 'example.net'),
    record('long.example.org', 'DNAME', long),
    record('sub.example.org', 'NS', 'ns.example.net'),
    record('below.sub.example.org', 'DNAME', 'example.net'),
    record('cut.old.example.org', 'NS', 'ns.example.net'),
    record('*.wild.example.org', 'DNAME', 'example.net'),
  );
  const ask = (name: string, type = 'A') => decoded(answerTo(table, query(name, type)));
  const shown = (name: string, type = 'A') =>
    ask(name, type).answers.map((each) => `${each.type} ${each.data}`);

  test('redirects names below its owner, with a CNAME record of its TTL', () => {
    const { rcode, answers, authoritative } = ask('WWW.old.example.org');
    expect({ rcode, authoritative }).toEqual({ rcode: RCODE.NOERROR, authoritative: true });
    expect(answers).toEqual([
      { name: 'old.example.org', type: 'DNAME', ttl: 77, data: 'new.example.org' },
      { name: 'www.old.example.org', type: 'CNAME', ttl: 77, data: 'www.new.example.org' },
      { name: 'www.new.example.org', type: 'A', ttl: 60, data: '192.0.2.1' },
    ]);
  });

  test('keeps the case of the labels that it does not replace', () => {
    const reply = answerTo(table, query('WwW.old.example.org', 'CNAME'));
    if (typeof reply === 'number') throw new Error('no reply');
    // The CNAME record's data: a label, and a pointer to the target of the DNAME record.
    expect(reply.subarray(-6, -2).toString('latin1')).toBe('\x03WwW');
  });

  test('does not redirect its owner', () => {
    expect(shown('old.example.org', 'TXT')).toHaveLength(1);
    expect(shown('old.example.org', 'DNAME')).toEqual(['DNAME new.example.org']);
    expect(ask('old.example.org')).toMatchObject({ rcode: RCODE.NOERROR, answers: [] });
  });

  test('is followed through CNAME and DNAME records, to names that do not exist, and out of the zone', () => {
    expect(shown('to-old.example.org')).toEqual([
      'CNAME www.old.example.org',
      'DNAME new.example.org',
      'CNAME www.new.example.org',
      'A 192.0.2.1',
    ]);
    expect(shown('www.twice.example.org').at(-1)).toBe('A 192.0.2.1');
    expect(ask('gone.old.example.org')).toMatchObject({
      rcode: RCODE.NXDOMAIN,
      authorities: [{ type: 'SOA' }],
    });
    expect(shown('a.b.away.example.org')).toEqual(['DNAME example.net', 'CNAME a.b.example.net']);
  });

  test('answers a CNAME query with the synthesized record', () => {
    expect(shown('gone.old.example.org', 'CNAME')).toEqual([
      'DNAME new.example.org',
      'CNAME gone.new.example.org',
    ]);
    expect(ask('gone.old.example.org', 'CNAME')).toMatchObject({ rcode: RCODE.NOERROR, authorities: [] });
  });

  test('gets YXDOMAIN if the new name is too long', () => {
    expect(ask('x'.repeat(60).concat('.long.example.org'))).toMatchObject({
      rcode: RCODE.YXDOMAIN,
      answers: [{ type: 'DNAME' }],
      authorities: [],
    });
    expect(ask('x.long.example.org')).toMatchObject({ rcode: RCODE.NOERROR });
  });

  test('in a loop ends where names would grow or repeat', () => {
    expect(shown('www.loop.example.org')).toEqual([
      'DNAME x.loop.example.org',
      'CNAME www.x.loop.example.org',
    ]);
    expect(shown('www.circle.example.org')).toEqual([
      'DNAME circle.example.org',
      'CNAME www.circle.example.org',
    ]);
  });

  test('hides everything below it, and is hidden below a zone cut; a wildcard does not redirect', () => {
    expect(shown('www.cut.old.example.org')).toEqual([
      'DNAME new.example.org',
      'CNAME www.cut.new.example.org',
    ]);
    expect(ask('www.below.sub.example.org')).toMatchObject({
      authoritative: false,
      authorities: [{ type: 'NS' }],
    });
    expect(ask('www.wild.example.org')).toMatchObject({ rcode: RCODE.NOERROR, answers: [] });
    expect(shown('www.wild.example.org', 'DNAME')).toEqual(['DNAME example.net']);
  });
});

test('addresses of NS records are omitted without TC if they do not fit', () => {
  const hosts = Array.from({ length: 13 }, (_, index) => `${String.fromCharCode(97 + index)}.ns.example.org`);
  const table = tableOf(
    ...hosts.flatMap((host) => [
      record('example.org', 'NS', host),
      record(host, 'A', '192.0.2.1'),
      record(host, 'AAAA', '2001:db8::1'),
    ]),
  );
  const ask = (more: object) => decoded(answerTo(table, query('example.org', 'NS', more)));
  expect(ask({ additionals: [opt(1232)] }).additionals).toHaveLength(26);
  const small = ask({});
  expect(small).toMatchObject({ truncated: false, additionals: [] });
  expect(small.answers).toHaveLength(13);
});
