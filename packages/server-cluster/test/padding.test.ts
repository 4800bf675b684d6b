/** Replies are padded where they are encrypted and the query is padded (RFC 7830, RFC 8467). */
import { join } from 'node:path';
import { EDNS_OPTION, type EdnsOption, encodeName, encodeOpt, encodeQuery, TYPE } from '@dinodns-bench/wire';
import { decode } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ready, Server } from '../src/index.ts';
import { padded } from '../src/wire/padding.ts';
import { send, TRANSPORTS } from './support/client.ts';
import { sendHttps, sendTls } from './support/encrypted.ts';
import { record, startInProcess, zone } from './support/in-process.ts';

/** Far more seconds than anything here takes. */
const PATIENCE = 20;
const BLOCK = 468;
const PADDING: EdnsOption = { code: EDNS_OPTION.padding, data: Buffer.alloc(20) };
const COOKIE: EdnsOption = { code: EDNS_OPTION.cookie, data: Buffer.alloc(8, 7) };

const hostile = (name: string) => join(import.meta.dirname, 'hostile', name);

let server: Server & { ready: Ready };
beforeAll(async () => {
  const files = { certificateFile: hostile('certificate.pem'), keyFile: hostile('key.pem') };
  server = await startInProcess({ tls: { ...files, port: 0, httpsPort: 0 } }, [
    zone([
      record('www.example.org', 'A', '192.0.2.1'),
      ...Array.from({ length: 100 }, (_, host) => record('big.example.org', 'A', `192.0.2.${host}`)),
    ]),
  ]);
  server.server.handle('handled.example', (_request, response) => {
    response.answer({ name: 'handled.example', type: 'A', class: 'IN', ttl: 5, data: '192.0.2.7' });
  });
  server.server.handle('failing.example', () => {
    throw new Error('on purpose');
  });
});
afterAll(() => server.stop());

function queryFor(name: string, options: readonly EdnsOption[]): Buffer {
  return encodeQuery({ id: 4711, name: encodeName(name), type: TYPE.A, opt: encodeOpt({ options }) });
}

/** Codes of the options in a reply, and everything else that it says. */
function parts(reply: Buffer) {
  const { additionals = [], ...rest } = decode(reply);
  const [opt] = additionals;
  if (opt?.type !== 'OPT' || additionals.length !== 1) throw new Error('not one OPT record');
  return { options: opt.options.map(({ code }) => code), rest };
}

describe.each([
  ['TLS', (message: Buffer) => sendTls(server.ready.tlsPort ?? 0, message, PATIENCE)],
  ['HTTPS', (message: Buffer) => sendHttps(server.ready.httpsPort ?? 0, message, PATIENCE)],
])('over %s', (_transport, ask) => {
  test.each([
    'www.example.org',
    'big.example.org',
    'missing.example.org',
    'elsewhere.example',
    'handled.example',
    'failing.example',
  ])('the reply for %s is padded, and says the same', async (name) => {
    const plain = await ask(queryFor(name, []));
    const reply = await ask(queryFor(name, [PADDING]));
    expect(plain.length % BLOCK).not.toBe(0);
    expect(reply).toHaveLength(BLOCK * Math.ceil((plain.length + 4) / BLOCK));
    expect(parts(plain).options).toEqual([]);
    expect(parts(reply)).toEqual({ options: [EDNS_OPTION.padding], rest: parts(plain).rest });
  });

  test('padding comes after a cookie', async () => {
    for (const name of ['www.example.org', 'handled.example']) {
      const reply = await ask(queryFor(name, [PADDING, COOKIE]));
      expect(reply).toHaveLength(BLOCK);
      expect(parts(reply).options).toEqual([EDNS_OPTION.cookie, EDNS_OPTION.padding]);
    }
  });
});

test.each(TRANSPORTS)('over %s nothing is padded', async (transport) => {
  for (const name of ['www.example.org', 'handled.example']) {
    const reply = await send(transport, server.ready, queryFor(name, [PADDING]), PATIENCE);
    expect(parts(reply ?? Buffer.alloc(0)).options).toEqual([]);
  }
});

describe.each([0, 2])('behind %i bytes', (headroom) => {
  /** A reply of that length with a record, and an OPT record without options at its end. */
  function replyOf(length: number): Buffer {
    const opt = encodeOpt();
    const owner = encodeName('.');
    const head = Buffer.from('000084000000000100000001', 'hex');
    const body = Buffer.alloc(length - head.length - owner.length - opt.length);
    body.writeUInt16BE(TYPE.NULL, 0);
    body.writeUInt16BE(body.length - 10, 8);
    return Buffer.concat([Buffer.alloc(headroom), head, owner, body, opt]);
  }

  test.each([
    [100, 468],
    [464, 468],
    [465, 936],
    [468, 936],
    [65_516, 65_520],
    [65_517, 65_535],
    [65_531, 65_535],
    [65_532, 65_532],
    [65_535, 65_535],
  ])('a reply of %i bytes becomes one of %i', (length, expected) => {
    const reply = replyOf(length);
    const out = padded(reply, headroom);
    expect(out).toHaveLength(headroom + expected);
    // All but the length of the OPT record's data stays.
    expect(out.subarray(0, reply.length - 2)).toEqual(reply.subarray(0, reply.length - 2));
    expect(out.readUInt16BE(reply.length - 2)).toBe(expected - length);
    if (expected > length) expect(out.readUInt16BE(reply.length + 2)).toBe(expected - length - 4);
  });

  test('a reply without an OPT record stays as it is', () => {
    const reply = replyOf(100);
    reply.writeUInt16BE(0, headroom + 10);
    expect(padded(reply, headroom)).toBe(reply);
  });
});
