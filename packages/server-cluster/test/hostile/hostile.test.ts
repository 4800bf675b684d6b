/**
 * Hostile clients over TCP, TLS and HTTPS, while zones reload and workers are killed: the server never ends, other clients are
 * answered in time, and memory comes back. `pnpm test:hostile` does it for ten minutes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientOf } from '../../src/network/tcp-limits.ts';
import { ask, query, TcpClient } from '../support/client.ts';
import { sendHttps, sendTls } from '../support/encrypted.ts';
import {
  childrenOf,
  isAlive,
  killAll,
  type RunningServer,
  sleep,
  startServer,
  until,
} from '../support/server-process.ts';
import { attack, type Target } from './attackers.ts';

/** Of both modes together. */
const SECONDS = Number(process.env.DINODNS_HOSTILE_SECONDS ?? 10);
const SEED = Number(process.env.DINODNS_HOSTILE_SEED ?? Math.floor(Math.random() * 2 ** 31));
/**
 * What V8 keeps settles within a minute; before that it may grow by as much, whoever asks. A leak shows in the long run.
 */
const SETTLING_BYTES = SECONDS < 120 ? 96 * 1024 * 1024 : 0;
/** Attackers at the same time. */
const AT_ONCE = 40;
/** The `options timeout` and `attempts` of a stub resolver (resolv.conf(5)), of which a client may need all. */
const ATTEMPTS = 2;
/** As for queries over UDP and TCP (`support/client.ts`). */
const PATIENCE_SECONDS = 15;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hostile-'));
});
afterEach(async () => {
  await killAll();
  rmSync(directory, { recursive: true, force: true });
});

/** With zone files, which SIGHUP reads again, and everything that has a limit. */
async function start(...args: string[]): Promise<RunningServer> {
  const zone = (name: string, records: string) => {
    const path = join(directory, name);
    writeFileSync(
      path,
      `$TTL 60\n@ SOA ns.invalid. host.invalid. 1 7200 3600 1209600 300\n@ NS ns.invalid.\n${records}`,
    );
    return `${name}.=${path}`;
  };
  const texts = Array.from({ length: 200 }, (_, index) => `big TXT "${'x'.repeat(200)}${index}"\n`).join('');
  const hosts = Array.from({ length: 5000 }, (_, index) => `host${index} A 192.0.2.1\n`).join('');
  const here = (name: string) => join(import.meta.dirname, name);
  return startServer([
    ...['--zone', zone('hostile.test', texts + hosts), '--zone', zone('example1.com', '@ A 192.0.2.1\n')],
    ...[
      '--allow-transfer',
      '127.0.0.0/8',
      '--tcp-idle',
      '2',
      '--tcp-connections',
      '100',
      '--metrics-port',
      '0',
    ],
    ...[
      '--tls-cert',
      here('certificate.pem'),
      '--tls-key',
      here('key.pem'),
      '--tls-port',
      '0',
      '--https-port',
      '0',
    ],
    ...args,
  ]);
}

function targetOf({ ready: { address, port, tlsPort, httpsPort } }: RunningServer): Target {
  if (tlsPort === undefined || httpsPort === undefined) throw new Error('no TLS');
  return { address, port, tlsPort, httpsPort };
}

/** Attacks until the time is over. */
async function attackFor(target: Target, seconds: number, seed: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let attacks = 0;
  const attackers = Array.from({ length: AT_ONCE }, async (_, index) => {
    const random = randomFrom(seed + index);
    while (performance.now() < deadline) {
      await attack(target, random);
      attacks++;
    }
  });
  await Promise.all(attackers);
  return attacks;
}

/**
 * Asks as honest clients do, over every transport, all the time; resolves with what went unanswered. A connection to one of the `killed`
 * processes ends with it, and the kernel makes new ones until its last thread has ended: an attempt then is one that does not count.
 */
function witness(server: RunningServer, killed: readonly number[] = []) {
  const { tlsPort, httpsPort } = targetOf(server);
  const question = query('example1.com');
  const hasAnswer = (reply: Buffer) => reply.readUInt16BE(6) === 1;
  const plain = (transport: 'udp' | 'tcp') => () =>
    ask(transport, server.ready, 'example1.com').then(({ answers }) => answers.length === 1);
  const transports: Record<string, () => Promise<boolean>> = {
    udp: plain('udp'),
    tcp: plain('tcp'),
    tls: () => sendTls(tlsPort, question, PATIENCE_SECONDS).then(hasAnswer),
    https: () => sendHttps(httpsPort, question, PATIENCE_SECONDS).then(hasAnswer),
  };
  let isOver = false;
  const unanswered: string[] = [];
  const answered = new Map<string, number>();
  const watch = async ([transport, once]: [string, () => Promise<boolean>]) => {
    while (!isOver) {
      let isAnswered = false;
      for (let attempts = 0; attempts < ATTEMPTS && !isAnswered; ) {
        const before = killed.length;
        const isOneDying = killed.some(isAlive);
        isAnswered = await once().catch(() => false);
        if (!isOneDying && killed.length === before) attempts++;
      }
      if (isAnswered) answered.set(transport, (answered.get(transport) ?? 0) + 1);
      else unanswered.push(`${transport} after ${(performance.now() / 1000).toFixed(1)} s`);
      await sleep(0.05);
    }
  };
  const all = Promise.all(Object.entries(transports).map(watch));
  return {
    /** `answered` is that of the transport with the fewest answers. */
    async end() {
      isOver = true;
      await all;
      return {
        unanswered,
        answered: Math.min(...Object.keys(transports).map((transport) => answered.get(transport) ?? 0)),
      };
    },
  };
}

async function metric({ ready }: RunningServer, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ready.metricsPort}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/**
 * Resident memory after an attack during which zones reload, when its connections are closed. The smallest of several readings:
 * garbage comes and goes.
 */
async function memoryAfter(server: RunningServer, attacked: () => Promise<unknown>): Promise<number> {
  const reloads = setInterval(() => server.child.kill('SIGHUP'), 1500);
  await attacked().finally(() => clearInterval(reloads));
  expect(await until(async () => (await metric(server, 'dinodns_tcp_connections')) <= 1, 20)).toBe(true);
  const readings: number[] = [];
  for (let count = 0; count < 8; count++) {
    readings.push(await metric(server, 'dinodns_worker_resident_memory_bytes'));
    await sleep(0.25);
  }
  return Math.min(...readings);
}

const unexpected = ({ stderr }: RunningServer) =>
  stderr.split('\n').filter((line) => /unexpected error|Error:|at .*\.ts:/.test(line));

describe(`hostile clients (seed ${SEED})`, () => {
  test(
    'end neither a single process, nor its service for others, nor its memory',
    async () => {
      const server = await start();
      const target = targetOf(server);
      const seen = witness(server);
      // The process keeps what its first attack makes it need; from then on, no more.
      const before = await memoryAfter(server, () => attackFor(target, SECONDS / 2, SEED));
      let attacks = 0;
      const after = await memoryAfter(server, async () => {
        attacks = await attackFor(target, SECONDS / 5, SEED + 1000);
      });
      expect(after).toBeLessThanOrEqual(before * 1.1 + SETTLING_BYTES);
      expect(attacks).toBeGreaterThan(SECONDS / 4);
      const { unanswered, answered } = await seen.end();
      expect(unanswered).toEqual([]);
      expect(answered).toBeGreaterThan(SECONDS / 4);
      expect(server.child.exitCode).toBeNull();
      expect(unexpected(server)).toEqual([]);
      expect(await metric(server, 'dinodns_errors_total')).toBe(0);
    },
    (SECONDS + 60) * 1000,
  );

  test(
    'do not end the workers, while zones reload and workers are killed',
    async () => {
      const server = await start('--mode', 'multi', '--workers', '2', '--standby', '1');
      const killed: number[] = [];
      const seen = witness(server, killed);
      const reloads = setInterval(() => server.child.kill('SIGHUP'), 1200);
      const kills = setInterval(
        async () => {
          // One worker at a time: on a busy machine, the one that was killed before may not be back yet.
          const { status } = await fetch(`http://127.0.0.1:${server.ready.metricsPort}/ready`);
          const [worker] = childrenOf(server.pid);
          if (worker === undefined || status !== 200) return;
          killed.push(worker);
          process.kill(worker, 'SIGKILL');
        },
        Math.min(4000, SECONDS * 100),
      );
      await attackFor(targetOf(server), SECONDS * 0.3, SEED + 2000).finally(() => {
        clearInterval(reloads);
        clearInterval(kills);
      });
      expect((await seen.end()).unanswered).toEqual([]);
      expect(server.child.exitCode).toBeNull();
      expect(unexpected(server)).toEqual([]);
      // On a busy machine, not all workers are ready each time.
      expect(killed.length).toBeGreaterThanOrEqual(Math.max(1, Math.floor(SECONDS / 100)));
      // Those that the test killed, and no others.
      expect(await until(async () => (await metric(server, 'dinodns_workers_ready')) === 2, 20)).toBe(true);
      expect(await metric(server, 'dinodns_worker_restarts_total')).toBeLessThanOrEqual(killed.length);
    },
    (SECONDS + 60) * 1000,
  );
});

test('a transfer that is reset before it is read ends nothing', async () => {
  const server = await start();
  const question = Buffer.from(
    '\0\x1e\0\x01\0\0\0\x01\0\0\0\0\0\0\x07hostile\x04test\0\0\xfc\0\x01',
    'latin1',
  );
  for (let round = 0; round < 30; round++) {
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { socket } = new TcpClient(server.ready);
        await new Promise((resolve) => socket.once('connect', resolve));
        socket.write(question, () => socket.resetAndDestroy());
        await new Promise((resolve) => socket.once('close', resolve));
      }),
    );
    expect(server.child.exitCode).toBeNull();
  }
  expect((await ask('tcp', server.ready, 'example1.com')).answers).toHaveLength(1);
  expect(unexpected(server)).toEqual([]);
}, 60_000);

test('connections count by client: an IPv4 address, or a /64', () => {
  expect(clientOf('192.0.2.1')).not.toBe(clientOf('192.0.2.2'));
  expect(clientOf('::ffff:192.0.2.1')).toBe(clientOf('192.0.2.1'));
  expect(clientOf('2001:db8::1')).toBe(clientOf('2001:db8:0:0:ffff::2'));
  expect(clientOf('2001:db8::1')).not.toBe(clientOf('2001:db8:0:1::1'));
  expect(clientOf('2001:db8:0:10::1', 60)).toBe(clientOf('2001:db8:0:1f::1', 60));
  expect(clientOf('2001:db8:0:10::1', 60)).not.toBe(clientOf('2001:db8:0:20::1', 60));
  expect(clientOf('fe80::1%eth0')).toBe(clientOf('fe80::2%eth0'));
});
