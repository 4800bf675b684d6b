/** DNS cookies (RFC 7873): BIND asks for its cookie, and gets it back from every socket. Extended response codes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { cannon } from '../src/index.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

async function answers(port: number): Promise<boolean> {
  const run = cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'names', names: ['example.test'] },
    maxQueries: 1,
    timeoutSeconds: 0.2,
  });
  return (await run.result).counts.answered > 0;
}

/** BIND with a zone example.test that answers UDP queries with BADCOOKIE unless they have its cookie. */
async function startBind(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'load-cookies-'));
  const port = await freePort();
  writeFileSync(
    join(directory, 'example.test.zone'),
    '$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n@ A 192.0.2.1\n',
  );
  writeFileSync(
    join(directory, 'named.conf'),
    `options {
      directory "${directory}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; pid-file none; session-keyfile none; require-server-cookie yes;
    };
    controls { };
    zone "example.test" { type primary; file "example.test.zone"; };\n`,
  );
  const child: ChildProcess = spawn('named', ['-g', '-n', '1', '-c', join(directory, 'named.conf')], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true });
  });
  for (let tries = 0; tries < 50 && child.exitCode === null; tries++) if (await answers(port)) return port;
  throw new Error('named does not answer');
}

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

it('returns the cookies of BIND, which answers BADCOOKIE without', async () => {
  const port = await startBind();
  const run = (message: object) =>
    cannon({
      server: `127.0.0.1:${port}`,
      workload: { kind: 'names', names: ['example.test'] },
      message,
      clients: 3,
      maxQueries: 600,
      load: { kind: 'closed', outstanding: 6 },
    }).result;
  const without = await run({ ednsSize: 1232, options: ['10:0123456789abcdef'] });
  expect(without.codes).toEqual({ BADCOOKIE: 600 });
  const { codes, counts } = await run({ cookie: 'random', nsid: true });
  expect(counts).toMatchObject({ answered: 600, mismatched: 0, malformed: 0 });
  // Only what left before the first answers had come to its socket.
  expect(codes.BADCOOKIE).toBeGreaterThan(0);
  expect(codes.BADCOOKIE).toBeLessThanOrEqual(3 * 16);
  expect(codes.NOERROR).toBe(600 - (codes.BADCOOKIE ?? 0));
});

it('sends the cookie it was given, the newest, behind its own, and changes nothing else', async () => {
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

it('takes no answer with the cookie of another client', async () => {
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

it('counts every response code by itself, also those without a name', async () => {
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
