/** The upstream over UDP and TCP: its answers, and its delay. */
import * as dnsPacket from 'dns-packet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineExternal, externalQuestion, startUpstream, type Upstream } from '../src/index.ts';
import { ask, askTcp, differences, encodeQuestion } from './support/dns.ts';

const external = defineExternal({ names: 1000 });
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({ external });
});
afterAll(() => upstream.close());

it('answers as predicted, over UDP', async () => {
  const questions = Array.from({ length: 500 }, (_, at) =>
    externalQuestion(external, at % 5 === 0 ? 1000 + at : at, at % 2 === 0 ? 'A' : 'AAAA'),
  );
  expect(questions.filter(({ expected }) => expected.rcode === 'NXDOMAIN')).toHaveLength(100);
  expect(questions.filter(({ type }) => type === 'AAAA')).toHaveLength(250);
  expect(await differences(upstream.port, questions)).toEqual([]);
});

it('answers the same over TCP', async () => {
  const message = dnsPacket.decode(await askTcp(upstream.port, encodeQuestion('www5.example.org', 'A')));
  expect(message.answers).toEqual([expect.objectContaining({ type: 'A', data: '198.18.0.5', ttl: 30 })]);
});

it.each([
  ['WWW7.Example.ORG', 'A', 'NOERROR', 1],
  ['www7.example.org', 'SRV' as 'A', 'NOERROR', 0],
  ['example.org', 'A', 'NOERROR', 0],
  ['www1000.example.org', 'A', 'NXDOMAIN', 0],
  ['www07.example.org', 'A', 'NXDOMAIN', 0],
  ['www7.example.org.mydomain.com', 'A', 'NXDOMAIN', 0],
] as const)('answers %s %s with %s', async (name, type, rcode, count) => {
  const { rcode: code, answers } = await ask(upstream.port, { name, type });
  expect([code, answers.length]).toEqual([rcode, count]);
});

it('gives the SOA record that lets a name that does not exist be cached, and EDNS only where it was asked with it', async () => {
  const decoded = async (withEdns: boolean) =>
    dnsPacket.decode(await askTcp(upstream.port, encodeQuestion('nothing.example', 'A', withEdns)));
  const [plain, edns] = [await decoded(false), await decoded(true)];
  for (const { authorities } of [plain, edns]) {
    expect(authorities).toEqual([
      expect.objectContaining({ type: 'SOA', ttl: 30, data: expect.objectContaining({ minimum: 30 }) }),
    ]);
  }
  expect([plain.additionals?.length, edns.additionals?.length]).toEqual([0, 1]);
});

describe('a delay that is no delay', () => {
  it.each([-1, 11, Number.NaN])('%d s is refused', async (delaySeconds) => {
    await expect(startUpstream({ external, delaySeconds })).rejects.toMatchObject({ code: 'E_USAGE' });
  });
});

describe('an upstream that changes', () => {
  const slowly = (delaySeconds: number) => ({ kind: 'answer', delaySeconds }) as const;
  const codeOf = async () => (await ask(upstream.port, { name: 'www1.example.org', type: 'A' })).rcode;
  afterEach(() => upstream.behave(slowly(0)));

  it.each(['SERVFAIL', 'REFUSED'] as const)(
    'answers everything with %s, and then as before',
    async (code) => {
      upstream.behave({ kind: 'error', code });
      const query = encodeQuestion('www1.example.org', 'A');
      expect(dnsPacket.decode(await askTcp(upstream.port, query))).toMatchObject({
        rcode: code,
        answers: [],
      });
      await expect(codeOf()).rejects.toThrow(code);
      upstream.behave(slowly(0));
      expect(await codeOf()).toBe('NOERROR');
    },
  );

  it('is silent, and does not answer later what came meanwhile', async () => {
    upstream.behave({ kind: 'silent' });
    const before = upstream.answered.udp;
    await expect(ask(upstream.port, { name: 'www1.example.org', type: 'A' }, 1000)).rejects.toThrow(
      'no answer',
    );
    upstream.behave(slowly(0));
    expect(await codeOf()).toBe('NOERROR');
    expect(upstream.answered.udp).toBe(before + 1);
  });

  it('lets no query wait for slower ones that came before', async () => {
    const order: string[] = [];
    upstream.behave(slowly(2));
    const slow = codeOf().then(() => order.push('slow'));
    // Until it has come.
    await new Promise((resolve) => setTimeout(resolve, 500));
    upstream.behave(slowly(0.01));
    await codeOf().then(() => order.push('fast'));
    await slow;
    expect(order).toEqual(['fast', 'slow']);
  });

  it('refuses a delay out of range', () => {
    expect(() => upstream.behave(slowly(11))).toThrow('the delay cannot be 11 s');
  });
});

describe('further hosts', () => {
  it('are answered beside the names of the domain', async () => {
    const known = defineExternal({
      names: 10,
      hosts: { 'site.example.com': ['192.0.2.1', '2001:db8::1'], 'example.net': [] },
    });
    const other = await startUpstream({ external: known });
    try {
      const answersTo = async (name: string, type: 'A' | 'AAAA') => {
        const { rcode, answers } = await ask(other.port, { name, type });
        return [rcode, ...answers];
      };
      expect(await answersTo('site.example.com', 'A')).toHaveLength(2);
      expect(await answersTo('Site.example.com', 'AAAA')).toHaveLength(2);
      expect(await answersTo('example.net', 'A')).toEqual(['NOERROR']);
      expect(await answersTo('www3.example.org', 'A')).toHaveLength(2);
      expect(await answersTo('other.example.com', 'A')).toEqual(['NXDOMAIN']);
    } finally {
      await other.close();
    }
  });

  it('need addresses', () => {
    expect(() => defineExternal({ hosts: { 'site.example.com': ['nowhere'] } })).toThrow(/hosts/);
  });
});
