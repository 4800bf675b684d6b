/** Response rate limiting: how many responses a client network gets, and the memory for its state. */
import { mappedAddress, QueryReader } from '@dinodns-bench/wire';
import { afterEach, describe, expect, test } from 'vitest';
import { contains, parseNetwork } from '../src/limits/networks.ts';
import { ALLOW, RateLimiter, REFUSE, SLIP } from '../src/limits/rate-limiter.ts';
import { writeSlip } from '../src/limits/slip.ts';
import { ask, exchange, opt, query, sendUdp } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

afterEach(killAll);

/** Decisions on `count` responses to an address at one moment. */
function decide(limiter: RateLimiter, address: string, count: number, now: number): number[] {
  const source = mappedAddress(address);
  return Array.from({ length: count }, () => limiter.decide(source, 0, now));
}

const allowed = (decisions: readonly number[]) => decisions.filter((decision) => decision === ALLOW).length;

describe('the limiter', () => {
  test('allows a burst of the rate, then the rate per second', () => {
    const limiter = new RateLimiter({ rate: 10 });
    expect(allowed(decide(limiter, '192.0.2.1', 50, 100))).toBe(10);
    expect(allowed(decide(limiter, '192.0.2.1', 50, 100.5))).toBe(5);
    expect(allowed(decide(limiter, '192.0.2.1', 50, 101.5))).toBe(10);
    expect(allowed(decide(limiter, '192.0.2.1', 50, 1000))).toBe(10);
  });

  test('counts all addresses of a network together, and networks separately', () => {
    const limiter = new RateLimiter({ rate: 10 });
    expect(allowed(decide(limiter, '192.0.2.1', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '192.0.2.254', 10, 100))).toBe(0);
    expect(allowed(decide(limiter, '192.0.3.1', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '2001:db8:0:1::1', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '2001:db8:0:ff::2', 10, 100))).toBe(0);
    expect(allowed(decide(limiter, '2001:db8:0:100::1', 10, 100))).toBe(10);
  });

  test('takes prefixes of any length', () => {
    const limiter = new RateLimiter({ rate: 10, ipv4Prefix: 32, ipv6Prefix: 128 });
    expect(allowed(decide(limiter, '192.0.2.1', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '192.0.2.2', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '2001:db8::1', 10, 100))).toBe(10);
    expect(allowed(decide(limiter, '2001:db8::2', 10, 100))).toBe(10);
  });

  test.each([
    [0, 0],
    [1, 20],
    [2, 10],
    [5, 4],
  ])('slip %i lets %i of 20 through as truncated', (slip, expected) => {
    const limiter = new RateLimiter({ rate: 1, slip });
    const decisions = decide(limiter, '192.0.2.1', 21, 100).slice(1);
    expect(decisions.filter((decision) => decision === SLIP)).toHaveLength(expected);
    expect(decisions.filter((decision) => decision === REFUSE)).toHaveLength(20 - expected);
  });

  test('does not limit exempt networks', () => {
    const limiter = new RateLimiter({ rate: 1, exempt: ['192.0.2.0/25', '2001:db8::/32'].map(parseNetwork) });
    expect(allowed(decide(limiter, '192.0.2.127', 100, 100))).toBe(100);
    expect(allowed(decide(limiter, '192.0.2.128', 100, 100))).toBe(1);
    expect(allowed(decide(limiter, '2001:db8:ffff::1', 100, 100))).toBe(100);
  });

  test('millions of forged sources neither take memory nor free a limited network', () => {
    const limiter = new RateLimiter({ rate: 5 });
    const source = mappedAddress('10.0.0.1');
    const victim = mappedAddress('192.0.2.1');
    let toVictim = 0;
    const before = process.memoryUsage();
    const perSecond = 300_000;
    for (let count = 0; count < 1_500_000; count++) {
      source[12] = count >> 16;
      source[13] = count >> 8;
      source[14] = count;
      const now = 100 + count / perSecond;
      limiter.decide(source, 0, now);
      if (count % 100 === 0 && limiter.decide(victim, 0, now) === ALLOW) toVictim++;
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1024 * 1024);
    // A burst of 5, and 5 in each of 5 seconds, out of 15,000 queries.
    expect(toVictim).toBeLessThanOrEqual(31);
  });
});

describe('networks', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.77/24', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/29', '2001:dbf:ffff::1', true],
    ['2001:db8::/29', '2001:dc0::', false],
    ['::1', '::1', true],
    ['::/0', '192.0.2.1', true],
  ])('%s and %s: %s', (network, address, expected) => {
    expect(contains(parseNetwork(network), mappedAddress(address), 0)).toBe(expected);
  });

  test.each(['', '192.0.2', '192.0.2.0/33', '2001:db8::/129', '192.0.2.0/', '192.0.2.0/2/4', 'localhost/8'])(
    '"%s" is refused',
    (text) => {
      expect(() => parseNetwork(text)).toThrow(/is not a network/);
    },
  );
});

describe('a slip', () => {
  /** Reads the message at `offset` and writes the slip over it. */
  function slip(bytes: Buffer, offset: number, length: number): number {
    const reader = new QueryReader();
    reader.read(bytes, offset, length);
    return writeSlip(bytes, offset, reader);
  }

  test('is the question with TC set, and an OPT record if the query had one', () => {
    for (const additionals of [[], [opt(4096, { flags: 0x8000 })]]) {
      const message = query('www.example.org', 'TXT', { additionals, flags: 0x0100 });
      const arena = Buffer.alloc(600, 0xee);
      message.copy(arena, 9);
      const length = slip(arena, 9, message.length);
      expect(length).toBe(additionals.length === 0 ? message.length : message.length);
      const reply = arena.subarray(9, 9 + length);
      expect(reply.readUInt16BE(0)).toBe(message.readUInt16BE(0));
      expect(reply.readUInt16BE(2)).toBe(0x8300);
      expect(reply.readUInt16BE(4)).toBe(1);
      expect(reply.readUInt16BE(10)).toBe(additionals.length);
      expect(arena[8]).toBe(0xee);
      expect(arena[9 + length]).toBe(0xee);
    }
  });

  test('is empty for a message without a question', () => {
    const message = query('www.example.org');
    for (let length = 0; length < message.length; length++) {
      expect(slip(Buffer.from(message), 0, length)).toBe(0);
    }
  });
});

test('a server with a limit limits UDP responses, slips some, and answers everything over TCP', async () => {
  const server = await startServer(['--rrl-rate', '20', '--rrl-slip', '2']);
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => sendUdp(server.ready, query('example1.com'), 2)),
  );
  const came = replies.filter((reply) => reply !== undefined);
  const truncated = came.filter((reply) => (reply.readUInt16BE(2) & 0x0200) !== 0);
  // The clients take part of a second, in which some more are allowed; the probe at the start used one or two.
  expect(came.length - truncated.length).toBeGreaterThanOrEqual(15);
  expect(came.length - truncated.length).toBeLessThan(100);
  expect(truncated.length).toBeGreaterThan(40);
  for (const reply of truncated) expect(reply.readUInt16BE(6)).toBe(0);
  for (let count = 0; count < 100; count++) {
    const reply = await exchange('tcp', server.ready, query('example1.com'));
    expect(reply.answers).toHaveLength(1);
  }
});

test('an exempt client gets every answer, and invalid limits are refused', async () => {
  const server = await startServer(['--rrl-rate', '1', '--rrl-exempt', '127.0.0.0/8', '::1']);
  for (let count = 0; count < 30; count++) {
    expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
  }
});
