/** DNS cookies: what they show about a client, how servers share them, and that rate limiting spares known clients. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mappedAddress, QueryReader } from '@dinodns-bench/wire';
import { afterEach, describe, expect, test } from 'vitest';
import { COOKIE, COOKIE_OPTION_BYTES, Cookies, cookieSecrets } from '../src/limits/cookies.ts';

import { ask, exchange, opt, query, RCODE, type Reply, sendUdp, TRANSPORTS } from './support/client.ts';
import { startInProcess } from './support/in-process.ts';
import { childrenOf, isAlive, killAll, runToEnd, startServer, until } from './support/server-process.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await killAll();
});

const bytesOf = (hex: string) => Buffer.from(hex, 'hex');
const additionals = (...cookies: Buffer[]) => ({
  additionals: [opt(1232, { options: cookies.map((data) => ({ code: 10, data })) })],
});
const CLIENT = bytesOf('2464c4abcf10c957');

/** What a query with this cookie shows, and the cookie for its reply. */
function shown(cookies: Cookies, cookie: Buffer, address: string, now: number) {
  const message = query('example.com', 'A', additionals(cookie));
  const reader = new QueryReader();
  reader.read(message, 0, message.length);
  const state = cookies.read(message, 0, reader, mappedAddress(address), 0, now);
  return { state, sent: Buffer.from(cookies.option()).subarray(4) };
}

/** The cookie in a reply; undefined without one. */
function cookieIn({ additionals: records }: Reply): Buffer | undefined {
  const record = records.find(({ type }) => type === 'OPT') as { options?: { code: number; data: Buffer }[] };
  return record?.options?.find(({ code }) => code === 10)?.data;
}

describe('a cookie', () => {
  const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf';

  test.each([
    // RFC 9018, appendix A: learning one, the same client, another, one that renews, an IPv6 client before and after a rollover.
    ['A.1', '2464c4abcf10c957', '198.51.100.100', 1559731985, SECRET, '010000005cf79f111f8130c3eee29480'],
    ['A.2', '2464c4abcf10c957', '198.51.100.100', 1559734385, SECRET, '010000005cf7a871d4a564a1442aca77'],
    ['A.3', 'fc93fc62807ddb86', '203.0.113.203', 1559734700, SECRET, '010000005cf7a9acf73a7810aca2381e'],
    [
      'A.4',
      '22681ab97d52c298',
      '2001:db8:220:1:59de:d0f4:8769:82b8',
      1559741961,
      '445536bcd2513298075a5d379663c962',
      '010000005cf7c609a6bb79d16625507a',
    ],
  ])('is that of RFC 9018, appendix %s', (_title, client, address, now, secret, expected) => {
    const { state, sent } = shown(new Cookies([bytesOf(secret)]), bytesOf(client), address, now);
    expect([state, sent.toString('hex')]).toEqual([COOKIE.client, client + expected]);
  });

  const cookies = new Cookies([bytesOf(SECRET)]);
  const learned = (now: number) => shown(cookies, CLIENT, '192.0.2.1', now).sent;

  test('is valid from its client for an hour, and made anew after half of it', () => {
    const cookie = learned(1000);
    for (const [now, state, isSame] of [
      [1000, COOKIE.valid, true],
      [2799, COOKIE.valid, true],
      [2800, COOKIE.valid, false],
      [4600, COOKIE.valid, false],
      [4601, COOKIE.invalid, false],
      [701, COOKIE.valid, true],
      [699, COOKIE.invalid, false],
    ] as const) {
      const seen = shown(cookies, cookie, '192.0.2.1', now);
      expect([now, seen.state, seen.sent.equals(cookie)]).toEqual([now, state, isSame]);
    }
  });

  test('is valid across the end of 32-bit time', () => {
    expect(shown(cookies, learned(2 ** 32 - 10), '192.0.2.1', 2 ** 32 + 10).state).toBe(COOKIE.valid);
  });

  test('is invalid from another client, changed anywhere, or of another length', () => {
    const cookie = learned(1000);
    expect(shown(cookies, cookie, '192.0.2.2', 1000).state).toBe(COOKIE.invalid);
    for (let at = 0; at < cookie.length; at++) {
      const changed = Buffer.from(cookie);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([at, shown(cookies, changed, '192.0.2.1', 1000).state]).toEqual([at, COOKIE.invalid]);
    }
    for (const length of [16, 23, 40]) {
      const other = Buffer.concat([cookie, Buffer.alloc(16)]).subarray(0, length);
      expect([length, shown(cookies, other, '192.0.2.1', 1000).state]).toEqual([length, COOKIE.invalid]);
    }
  });

  test('of a former or coming secret is accepted, and made with the first', () => {
    const [one, two] = [bytesOf(SECRET), bytesOf('dd3bdf9344b678b185a6f5cb60fca715')];
    const former = learned(1000);
    expect(shown(new Cookies([two]), former, '192.0.2.1', 1000).state).toBe(COOKIE.invalid);
    expect(shown(new Cookies([two, one]), former, '192.0.2.1', 1000).state).toBe(COOKIE.valid);
    const made = shown(new Cookies([two, one]), CLIENT, '192.0.2.1', 1000).sent;
    expect(shown(new Cookies([two]), made, '192.0.2.1', 1000).state).toBe(COOKIE.valid);
  });
});

describe.each(TRANSPORTS)('a server over %s', (transport) => {
  test('answers a cookie with its own, and knows it again, from the table and from handlers', async () => {
    const own = await startInProcess({ metrics: { port: 0 } });
    ends.push(() => own.stop());
    own.server.handle('handled.example', (_request, response) => {
      response.answer({ name: 'handled.example', type: 'A', class: 'IN', ttl: 5, data: '192.0.2.7' });
    });
    const figure = async (state: string) => {
      const text = await (await fetch(`http://127.0.0.1:${own.ready.metricsPort}/metrics`)).text();
      const line = new RegExp(
        `dinodns_cookies_total\\{.*transport="${transport}".*cookie="${state}"\\} (\\d+)`,
      );
      return Number(line.exec(text)?.[1]);
    };
    for (const [index, name] of ['example1.com', 'handled.example', 'missing.example1.com'].entries()) {
      const first = await ask(transport, own.ready, name, 'A', additionals(CLIENT));
      const cookie = cookieIn(first) ?? Buffer.alloc(0);
      expect(cookie.subarray(0, 8)).toEqual(CLIENT);
      expect(cookie).toHaveLength(24);
      expect(cookieIn(await ask(transport, own.ready, name, 'A', additionals(cookie)))).toEqual(cookie);
      const forged = Buffer.concat([CLIENT, Buffer.alloc(16, 7)]);
      const reply = await ask(transport, own.ready, name, 'A', additionals(forged));
      expect(cookieIn(reply)?.subarray(0, 8)).toEqual(CLIENT);
      expect(reply.answers).toEqual(first.answers);
      for (const state of ['client', 'invalid', 'valid']) expect(await figure(state)).toBe(index + 1);
    }
  });

  test('sends none without being asked, and with cookies off', async () => {
    const own = await startInProcess();
    ends.push(() => own.stop());
    expect(cookieIn(await ask(transport, own.ready, 'example1.com', 'A', additionals()))).toBeUndefined();
    expect((await ask(transport, own.ready, 'example1.com')).additionals).toEqual([]);
    const off = await startInProcess({ cookies: false });
    ends.push(() => off.stop());
    expect(
      cookieIn(await ask(transport, off.ready, 'example1.com', 'A', additionals(CLIENT))),
    ).toBeUndefined();
  });

  test.each([0, 1, 7, 9, 15, 41])('refuses a cookie of %i bytes as malformed', async (length) => {
    const own = await startInProcess();
    ends.push(() => own.stop());
    const reply = await ask(transport, own.ready, 'example1.com', 'A', additionals(Buffer.alloc(length)));
    expect([reply.rcode, reply.answers]).toEqual([RCODE.FORMERR, []]);
    // With it, the client knows that it may use EDNS (RFC 6891, section 7).
    expect(reply.additionals?.map(({ type }) => type)).toEqual(['OPT']);
  });

  test('looks at the first of several only', async () => {
    const own = await startInProcess();
    ends.push(() => own.stop());
    const reply = await ask(transport, own.ready, 'example1.com', 'A', additionals(CLIENT, Buffer.alloc(8)));
    expect(cookieIn(reply)?.subarray(0, 8)).toEqual(CLIENT);
  });
});

test('an answer with a cookie is never longer than the client accepts', async () => {
  const data = Array.from({ length: 30 }, (_none, index) => Buffer.alloc(10 + index, 0x61).toString());
  const zones = data.map((_text, index) => ({
    name: `zone${index}.example`,
    records: [
      {
        name: `zone${index}.example`,
        ttl: 60,
        type: 'TXT',
        data: data.slice(0, index + 1).map((text) => [text]),
      },
    ].flatMap(({ data: texts, ...record }) => texts.map((text) => ({ ...record, data: text }))),
  }));
  const own = await startInProcess({ zones: { zones: () => zones as never } });
  ends.push(() => own.stop());
  const seen = new Set<boolean>();
  for (const { name } of zones) {
    const small = { additionals: [opt(512, { options: [{ code: 10, data: CLIENT }] })] };
    const reply = await ask('udp', own.ready, name, 'TXT', small);
    expect(reply.raw.length).toBeLessThanOrEqual(512);
    expect(cookieIn(reply)).toHaveLength(24);
    expect(reply.isTruncated).toBe(reply.answers.length === 0);
    seen.add(reply.isTruncated);
  }
  expect(seen.size).toBe(2);
});

describe('with rate limiting', () => {
  test('a client with a valid cookie gets every answer; one without is told how to get one', async () => {
    const server = await startServer(['--rrl-rate', '1', '--rrl-slip', '1']);
    // Over TCP nothing is limited.
    const cookie = cookieIn(await ask('tcp', server.ready, 'example1.com', 'A', additionals(CLIENT)));
    expect(cookie).toHaveLength(24);
    for (let count = 0; count < 30; count++) {
      const reply = await ask('udp', server.ready, 'example1.com', 'A', additionals(cookie as Buffer));
      expect(reply.answers).toHaveLength(1);
    }
    // A busy machine may take so long for one that one more is allowed, but not for many at once.
    const limited = async (more = {}) => {
      const asking = Array.from({ length: 20 }, () => ask('udp', server.ready, 'example1.com', 'A', more));
      const found = (await Promise.all(asking)).find(({ answers }) => answers.length === 0);
      if (found === undefined) throw new Error('none was limited');
      return found;
    };
    expect((await limited()).isTruncated).toBe(true);
    const refused = await limited(additionals(CLIENT));
    // BADCOOKIE is 23: 7 here, and 1 in the OPT record.
    expect([refused.rcode, refused.isTruncated, refused.answers]).toEqual([7, false, []]);
    expect(refused.additionals).toMatchObject([{ type: 'OPT', extendedRcode: 1 }]);
    const learned = cookieIn(refused) as Buffer;
    expect((await ask('udp', server.ready, 'example1.com', 'A', additionals(learned))).answers).toHaveLength(
      1,
    );
  });

  test('a client with a forged cookie is limited like others', async () => {
    const server = await startServer(['--rrl-rate', '5', '--rrl-slip', '0']);
    const forged = query('example1.com', 'A', additionals(Buffer.concat([CLIENT, Buffer.alloc(16, 1)])));
    const replies = await Promise.all(Array.from({ length: 60 }, () => sendUdp(server.ready, forged, 1)));
    expect(replies.filter((reply) => reply !== undefined).length).toBeLessThan(30);
  });
});

function secretFile(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'cookies-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'secrets');
  writeFileSync(file, text);
  return file;
}

describe('the secret', () => {
  const [A, B] = ['aa'.repeat(16), 'bb'.repeat(16)];
  const validCount = async (port: number | undefined, state = 'valid') => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.matchAll(new RegExp(`dinodns_cookies_total\\{.*cookie="${state}"\\} (\\d+)`, 'g'));
    return Array.from(lines, ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);
  };

  test('is the same in all workers', async () => {
    const server = await startServer(['--mode', 'multi', '--workers', '3', '--metrics-port', '0']);
    const cookie = cookieIn(
      await ask('udp', server.ready, 'example1.com', 'A', additionals(CLIENT)),
    ) as Buffer;
    const message = query('example1.com', 'A', additionals(cookie));
    for (let count = 0; count < 30; count++) await exchange('udp', server.ready, message);
    expect(await validCount(server.ready.metricsPort)).toBe(30);
  });

  test('of a replacement worker is that of the others, whatever the file says by now', async () => {
    const file = secretFile(`${A}\n`);
    const flags = ['--mode', 'multi', '--workers', '2', '--cookie-secret-file', file, '--metrics-port', '0'];
    const server = await startServer(flags);
    const cookie = cookieIn(
      await ask('udp', server.ready, 'example1.com', 'A', additionals(CLIENT)),
    ) as Buffer;
    for (const text of [`${B}\n`, 'half of a fi']) {
      writeFileSync(file, text);
      const [worker = -1] = childrenOf(server.pid);
      process.kill(worker, 'SIGKILL');
      expect(await until(() => !isAlive(worker), 20)).toBe(true);
      const isReady = async () =>
        (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/ready`)).status === 200;
      expect(await until(async () => !childrenOf(server.pid).includes(worker) && (await isReady()), 20)).toBe(
        true,
      );
      const message = query('example1.com', 'A', additionals(cookie));
      for (let count = 0; count < 30; count++) await exchange('udp', server.ready, message);
      expect(await validCount(server.ready.metricsPort, 'invalid')).toBe(0);
    }
  });

  test('is shared by servers of one file, and replaced on SIGHUP', async () => {
    const file = secretFile(`${A}\n`);
    const flags = ['--cookie-secret-file', file, '--metrics-port', '0'];
    const [one, two] = [await startServer(flags), await startServer(flags)];
    const cookie = cookieIn(await ask('udp', one.ready, 'example1.com', 'A', additionals(CLIENT))) as Buffer;
    await ask('udp', two.ready, 'example1.com', 'A', additionals(cookie));
    expect(await validCount(two.ready.metricsPort)).toBe(1);
    writeFileSync(file, `${B}\n\n${A}\n`);
    two.child.kill('SIGHUP');
    // The old one is still accepted. The new one is not the first server's.
    const made = async () => cookieIn(await ask('udp', two.ready, 'example1.com', 'A', additionals(CLIENT)));
    await expect
      .poll(async () => {
        await ask('udp', one.ready, 'example1.com', 'A', additionals((await made()) as Buffer));
        return validCount(one.ready.metricsPort, 'invalid');
      })
      .toBeGreaterThan(0);
    const before = await validCount(two.ready.metricsPort);
    await ask('udp', two.ready, 'example1.com', 'A', additionals(cookie));
    expect(await validCount(two.ready.metricsPort)).toBe(before + 1);
  });

  test.each([
    ['no secret', '\n', /has 0 secrets/],
    ['a short line', `${A}\nabcd\n`, /Line 2 of .* is no secret/],
    ['too many', `${A}\n${A}\n${A}\n${A}\n`, /has 4 secrets/],
  ])('is refused from a file with %s, which no message quotes', async (_title, text, message) => {
    const { code: status, stderr } = await runToEnd(['--cookie-secret-file', secretFile(text)]);
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).toContain('openssl rand -hex 16');
    expect(stderr).not.toContain('abcd');
  });

  test('is refused from a file that is not there', () => {
    expect(() => cookieSecrets('/nowhere/secrets')).toThrow('/nowhere/secrets does not exist');
  });
});

test('the answer table leaves room for exactly what is added', () => {
  expect(COOKIE_OPTION_BYTES).toBe(28);
});
