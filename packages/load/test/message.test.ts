import { describe, expect, test } from 'vitest';
import { encoderFor } from '../src/message/encoder.ts';
import { parseExpected, responseCheck, VERDICT } from '../src/message/response.ts';
import { messageOptionsSchema } from '../src/options.ts';
import { createRandom } from '../src/workload/random.ts';
import { wireOf } from './support/wire-of.ts';

describe('queries', () => {
  test('a random cookie is eight bytes, different for each run', () => {
    const query = () => encoderFor(messageOptionsSchema.parse({ cookie: 'random' }))(wireOf('.'), 1);
    expect(query()).toHaveLength(12 + 5 + 11 + 4 + 8);
    expect(query()).not.toEqual(query());
  });

  test('every invalid option is named, with a fix', () => {
    const options = messageOptionsSchema.parse({
      clientSubnet: '1.2.3.4/33',
      cookie: '0123',
      options: ['x:1'],
    });
    expect(() => encoderFor(options)).toThrow(
      /3 problems[\s\S]*prefix length that it can have[\s\S]*no EDNS option[\s\S]*2 bytes/,
    );
  });
});

describe('expectations', () => {
  /** A response to `a. A` with these records, each written as name, type, data; and a code. */
  function response(
    code: number,
    records: [string, number, string][],
    { extended = -1, cut = 0 } = {},
  ): Buffer {
    const body = records.map(([name, type, data]) => {
      const bytes = Buffer.from(data, 'hex');
      const fixed = Buffer.alloc(10);
      fixed.writeUInt16BE(type, 0);
      fixed.writeUInt16BE(bytes.length, 8);
      return Buffer.concat([Buffer.from(name, 'hex'), fixed, bytes]);
    });
    const opt = extended < 0 ? [] : [Buffer.from([0, 0, 41, 4, 208, extended, 0, 0, 0, 0, 0])];
    const head = Buffer.from([
      0,
      1,
      0x81,
      code,
      0,
      1,
      0,
      records.length,
      0,
      0,
      0,
      opt.length,
      1,
      97,
      0,
      0,
      1,
      0,
      1,
    ]);
    const whole = Buffer.concat([head, ...body, ...opt]);
    return whole.subarray(0, whole.length - cut);
  }

  function verdict(text: string, message: Buffer): number {
    const expected = parseExpected(text);
    if ('problem' in expected) throw new Error(expected.problem);
    const check = responseCheck({ ...expected.value, maxAgeSeconds: null });
    if (check === null) throw new Error('nothing is checked');
    // Within a larger buffer, so that reading beyond the message would be noticed.
    const arena = Buffer.concat([Buffer.alloc(7, 0xff), message, Buffer.alloc(50, 0)]);
    return check(arena, 7, message.length, 7 + 19);
  }

  const localhost = response(0, [['c00c', 1, '7f000001']]);
  const alias = response(0, [
    ['c00c', 5, '016200'],
    ['016200', 28, '00000000000000000000000000000001'],
    ['016200', 1, '7f000002'],
  ]);

  test.each<[string, Buffer, keyof typeof VERDICT]>([
    ['NOERROR', localhost, 'asExpected'],
    ['NXDOMAIN', localhost, 'wrongCode'],
    ['NOERROR NXDOMAIN', response(3, []), 'asExpected'],
    ['127.0.0.1', localhost, 'asExpected'],
    ['127.0.0.2', localhost, 'wrongAddress'],
    ['127.0.0.1', response(0, []), 'wrongAddress'],
    ['127.0.0.1', response(3, []), 'wrongCode'],
    ['NOERROR,NXDOMAIN,127.0.0.1', response(3, []), 'asExpected'],
    ['127.0.0.2', alias, 'asExpected'],
    ['::1', alias, 'asExpected'],
    ['127.0.0.9,::1', alias, 'asExpected'],
    ['BADVERS', response(0, [], { extended: 1 }), 'asExpected'],
    ['NOERROR', response(0, [], { extended: 1 }), 'wrongCode'],
    ['127.0.0.1', response(0, [['c00c', 1, '7f000001']], { cut: 1 }), 'malformed'],
    ['127.0.0.1', response(0, [['3f', 1, '7f000001']]), 'malformed'],
    ['NOERROR', response(0, [], { extended: 0, cut: 4 }), 'malformed'],
    ['NOERROR', Buffer.alloc(5), 'malformed'],
  ])('%s', (text, message, expected) => {
    expect(verdict(text, message)).toBe(VERDICT[expected]);
  });

  test('what cannot be expected', () => {
    expect(parseExpected('NOEROR')).toEqual({ problem: expect.stringContaining('"NOEROR"') });
    expect(parseExpected('')).toHaveProperty('problem');
    expect(responseCheck({ codes: [], addresses: [], maxAgeSeconds: null })).toBeNull();
  });

  test('any message, however mangled, gets a verdict', () => {
    const random = createRandom(3);
    const check = responseCheck({ codes: [0], addresses: ['127.0.0.9'], maxAgeSeconds: null });
    for (let i = 0; i < 100_000; i += 1) {
      const message = Buffer.from(alias);
      for (let changes = random.bits() % 4; changes >= 0; changes -= 1)
        message[random.bits() % message.length] = random.bits();
      const verdict = check?.(message, 0, random.bits() % (message.length + 1), 19);
      if (verdict === undefined || verdict > VERDICT.malformed) throw new Error(`verdict ${verdict}`);
    }
  });
});
