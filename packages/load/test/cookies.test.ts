/** DNS cookies (RFC 7873) and extended response codes. */
import { expect, it } from 'vitest';
import { cannon } from '../src/index.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

/** An answer with an OPT record of these options. */
function answerWithOpt(query: Buffer, options: Uint8Array, extendedCode = 0): Buffer {
  const answer = answerTo(query, { code: extendedCode & 15 });
  answer[11] = 1;
  const opt = Buffer.from([0, 0, 41, 4, 208, extendedCode >> 4, 0, 0, 0, 0, options.length, ...options]);
  return Buffer.concat([answer, opt]);
}

const CLIENT = Buffer.from('0123456789abcdef', 'hex');
const SERVER = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const cookieOption = (...parts: Uint8Array[]) => {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0, 10, 0, data.length]), data]);
};

it('sends the newest server cookie after its own client cookie, and changes nothing else', async () => {
  const server = await startServer((query, reply, number) =>
    reply(answerWithOpt(query, cookieOption(CLIENT, SERVER.subarray(0, number === 0 ? 8 : 16)))),
  );
  await cannon({
    server: `127.0.0.1:${server.port}`,
    workload: { kind: 'names', names: ['one.test', 'longer.two.test'] },
    message: { cookie: CLIENT.toString('hex'), dnssec: true, options: ['65001:ff'] },
    maxQueries: 4,
    load: { kind: 'closed', outstanding: 1 },
  }).result;
  const opts = server.queries.map((query, i) =>
    query.subarray(12 + (i % 2 === 0 ? 10 : 17) + 4).toString('hex'),
  );
  const opt = (cookie: string) => {
    const options = `fde90001ff000a${(cookie.length / 2).toString(16).padStart(4, '0')}${cookie}`;
    return `00002904d000008000${(options.length / 2).toString(16).padStart(4, '0')}${options}`;
  };
  const client = CLIENT.toString('hex');
  const server8 = SERVER.subarray(0, 8).toString('hex');
  const server16 = SERVER.toString('hex');
  expect(opts).toEqual(
    [client, client + server8, client + server16, client + server16].map((cookie) => opt(cookie)),
  );
});

it("ignores answers with another client's cookie", async () => {
  const stranger = Buffer.from('ffffffffffffffff', 'hex');
  const server = await startServer((query, reply, number) => {
    if (number % 2 === 0) reply(answerWithOpt(query, cookieOption(stranger, SERVER)));
    reply(answerWithOpt(query, cookieOption(CLIENT, SERVER)), 0);
  });
  const { counts } = await cannon({
    server: `127.0.0.1:${server.port}`,
    workload: { kind: 'names', names: ['one.test'] },
    message: { cookie: CLIENT.toString('hex') },
    maxQueries: 100,
  }).result;
  expect(counts).toMatchObject({ answered: 100, mismatched: 50, duplicate: 0 });
});

it('counts each response code separately, even those without a name', async () => {
  const codes = [0, 16, 23, 24, 25, 4095];
  const server = await startServer((query, reply, number) =>
    reply(answerWithOpt(query, new Uint8Array(0), codes[number % codes.length])),
  );
  const result = await cannon({
    server: `127.0.0.1:${server.port}`,
    workload: { kind: 'names', names: ['one.test'] },
    message: { ednsSize: 1232 },
    maxQueries: 60,
  }).result;
  expect(result.codes).toEqual({
    NOERROR: 10,
    BADVERS: 10,
    BADCOOKIE: 10,
    RCODE24: 10,
    RCODE25: 10,
    RCODE4095: 10,
  });
});
