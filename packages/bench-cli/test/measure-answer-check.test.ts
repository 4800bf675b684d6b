import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineWorkload, defineZoneSet, type Query, workloadFor } from '@dinodns-bench/zones';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import { createDnsClient } from '../src/dns/client.ts';
import { decodeAnswer } from '../src/dns/message.ts';
import { BenchError } from '../src/errors.ts';
import { checkAnswers, judgeSignedAnswer } from '../src/measure/answer-check.ts';
import { checkDeployment, type Subject } from '../src/measure/measured.ts';
import { findServer } from '../src/servers/registry.ts';
import type { Deployment } from '../src/targets/target.ts';
import { loadWorkload } from '../src/workload/load-workload.ts';
import { expectationOf, predictedCodes, zoneSetOf } from '../src/workload/workload.ts';
import { realClock } from '../src/world.ts';

const coredns = findServer('coredns', DEFAULTS);
const dinodnsStock = findServer('dinodns-stock', DEFAULTS);
const zoneSet = defineZoneSet({ from: 1, to: 19, parity: 'odd' });
const workload = defineWorkload(workloadFor(zoneSet));

/** What the right server would answer; tests bend it. */
function rightAnswer(packet: Packet): Packet {
  const question = packet.questions?.[0];
  if (question === undefined) throw new Error('no question');
  const { code, records } = expectationOf(zoneSet, coredns, question as Query);
  return {
    type: 'response',
    id: packet.id ?? 0,
    flags: code === 'REFUSED' ? 5 : code === 'NXDOMAIN' ? 3 : 0,
    questions: [question],
    answers: records as Packet['answers'] & object[],
  };
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A real UDP server that answers rightly, except as `bend` says; null sends nothing. */
async function serve(bend: (answer: Packet, name: string) => Packet | Buffer | null): Promise<number> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', (message, { port, address }) => {
    const query = decode(message);
    const reply = bend(rightAnswer(query), query.questions?.[0]?.name ?? '');
    if (reply !== null) socket.send(Buffer.isBuffer(reply) ? reply : encode(reply), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

async function check(bend: Parameters<typeof serve>[0]): Promise<number> {
  const client = createDnsClient({ address: '127.0.0.1', port: await serve(bend) }, 'udp', realClock);
  try {
    return await checkAnswers({
      client,
      server: coredns,
      zoneSet,
      workload,
      dnssec: false,
      signal: new AbortController().signal,
    });
  } finally {
    client.close();
  }
}

describe('the answer of a signed zone', () => {
  const [zone] = zoneSet.zones();
  const name = zone?.name ?? '';
  const rrsig = (typeCovered: string): Answer => ({
    type: 'RRSIG',
    name,
    data: {
      typeCovered,
      algorithm: 13,
      labels: 2,
      originalTTL: 60,
      expiration: 2,
      inception: 1,
      keyTag: 1,
      signersName: name,
      signature: Buffer.alloc(64),
    },
  });
  const address: Answer = { type: 'A', name, data: '127.0.0.1' };
  const soa: Answer = { type: 'SOA', name, data: { mname: 'a', rname: 'b', serial: 1 } };
  const nsec: Answer = { type: 'NSEC', name, data: { nextDomain: name, rrtypes: ['A'] } };

  it.each<[string, string, Answer[], Answer[], string | null]>([
    ['A', 'signed', [address, rrsig('A')], [], null],
    ['A', 'unsigned', [address], [], 'NOERROR with A "127.0.0.1", without a signature of A'],
    [
      'A',
      'with another signature',
      [address, rrsig('TXT')],
      [],
      'NOERROR with A "127.0.0.1", without a signature of A',
    ],
    [
      'A',
      'with another address',
      [{ ...address, data: '127.0.0.2' }, rrsig('A')],
      [],
      'NOERROR with A "127.0.0.2"',
    ],
    ['TXT', 'with a proof', [], [soa, rrsig('SOA'), nsec, rrsig('NSEC')], null],
    ['TXT', 'with a proof by hashes', [], [soa, rrsig('SOA'), rrsig('NSEC3')], null],
    [
      'TXT',
      'with an unsigned proof',
      [],
      [soa, rrsig('SOA'), nsec],
      'NOERROR with no answer records, without a signed NSEC or NSEC3 record',
    ],
  ])('%s %s', (type, _what, answers, authorities, wrong) => {
    const query = { name, type };
    const questions: Packet['questions'] = [{ type: type === 'A' ? 'A' : 'TXT', name }];
    const packet: Packet = { type: 'response', questions, answers, authorities };
    const answer = decodeAnswer(encode(packet), query);
    expect(judgeSignedAnswer(expectationOf(zoneSet, coredns, query), answer)).toBe(wrong);
  });
});

async function problem(bend: Parameters<typeof serve>[0]): Promise<string> {
  const error = await check(bend).catch((reason: unknown) => reason);
  if (!(error instanceof BenchError)) throw new Error('the check passed');
  expect(error.code).toBe('E_WRONG_ANSWER');
  return [error.message, ...error.evidence].join('\n');
}

const only =
  (name: string, change: (answer: Packet) => Packet | Buffer | null) => (answer: Packet, asked: string) =>
    asked === name ? change(answer) : answer;

describe('checkAnswers', () => {
  it('asks every distinct query once when all answers are right', async () => {
    expect(await check((answer) => answer)).toBe(20);
  });

  it('names the query, what was expected and what came', async () => {
    const wrong = only('example7.com', (answer) => ({
      ...answer,
      answers: [{ name: 'example7.com', type: 'A', data: '127.0.0.2' }],
    }));
    expect(await problem(wrong)).toMatchInlineSnapshot(`
      "coredns gives a wrong answer for example7.com A
      query:    example7.com A
      expected: NOERROR with A "127.0.0.1"
      received: NOERROR with A "127.0.0.2""
    `);
  });

  it.each<[string, string, (answer: Packet) => Packet | Buffer | null, string]>([
    [
      'a name that should not exist',
      'example8.com',
      (a) => ({ ...a, flags: 0 }),
      'NOERROR with no answer records',
    ],
    ['the other code for an unknown zone', 'example8.com', (a) => ({ ...a, flags: 3 }), 'NXDOMAIN with no'],
    ['an empty answer', 'example7.com', (a) => ({ ...a, answers: [] }), 'NOERROR with no answer records'],
    [
      'a response to another question',
      'example7.com',
      (a) => ({ ...a, questions: [{ name: 'x.example', type: 'A' }] }),
      'the question "x.example A"',
    ],
    ['a response without a question', 'example7.com', (a) => ({ ...a, questions: [] }), 'without a question'],
    [
      'garbage',
      'example7.com',
      (a) => Buffer.concat([encode(a).subarray(0, 12), Buffer.from('garbage!')]),
      'nothing usable',
    ],
  ])('refuses %s', async (_what, name, change, came) => {
    expect(await problem(only(name, change))).toContain(came);
  });

  it('asks again when a datagram is lost, and gives up when nothing ever comes', async () => {
    let dropped = false;
    const dropOnce = only('example7.com', (answer) => {
      if (dropped) return answer;
      dropped = true;
      return null;
    });
    expect(await check(dropOnce)).toBe(20);
    expect(await problem(only('example7.com', () => null))).toContain('nothing usable');
  });
});

it('an echo has no answers to check, but is reached before its load begins', async () => {
  const reached: string[] = [];
  const deployment = {
    endpoints: [{ address: '10.96.0.10', port: 53 }],
    reached: async ({ address }: { address: string }) => void reached.push(address),
  } as unknown as Deployment;
  expect(await checkDeployment({ server: findServer('echo', DEFAULTS), deployment } as Subject)).toBe(0);
  expect(reached).toEqual(['10.96.0.10']);
});

describe('workloads', () => {
  it('predict half NOERROR, half NXDOMAIN or REFUSED as the server kind has it', () => {
    const published = zoneSetOf(100);
    const half = defineWorkload(workloadFor(published));
    expect([...predictedCodes(published, dinodnsStock, half)]).toEqual([
      ['NOERROR', 100],
      ['NXDOMAIN', 100],
    ]);
    expect(predictedCodes(published, coredns, half).get('REFUSED')).toBe(100);
  });

  describe('of a query file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'bench-query-file-'));
    afterAll(() => rmSync(directory, { recursive: true }));

    const load = (content: string) => {
      writeFileSync(join(directory, 'q.txt'), content);
      return loadWorkload({ fs: fsPromises, cwd: directory }, 'q.txt', {
        ...configure({ env: {}, flags: {} }),
        zoneSet,
      });
    };

    it('are read as dnsperf and dnscannon read them', async () => {
      const file = await load('; comment\n\nexample1.com. a\n#2.Example2.com TYPE28 ; rest\n. TYPE65280\n');
      expect([...file.queries()]).toEqual([
        { name: 'example1.com', type: 'A' },
        { name: '#2.Example2.com', type: 'AAAA' },
        { name: '.', type: 'TYPE65280' },
      ]);
      expect(file).toMatchObject({ name: 'q.txt', size: 3 });
    });

    it('that is wrong is refused with the line', async () => {
      await expect(load('example1.com A\nexample2.com\n')).rejects.toThrow(/q\.txt, line 2/);
      await expect(load('; nothing\n')).rejects.toThrow(/contains no query/);
      await expect(load('# comment\nexample1.com A\n')).rejects.toMatchObject({
        code: 'E_QUERY_FILE',
        exitStatus: 2,
        fix: expect.stringContaining('begin a comment line with ;'),
      });
    });
  });
});
