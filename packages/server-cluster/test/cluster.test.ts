/** Mode multi: workers that share a port, die, are replaced, and stop. */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { Backoff, MAX_DELAY_SECONDS, MAX_FAILED_STARTS, STABLE_SECONDS } from '../src/cluster/backoff.ts';
import { sharingOf } from '../src/profiles/dinodns.ts';
import { ask, query, RCODE, sendUdp, TRANSPORTS } from './support/client.ts';
import { childrenOf, isAlive, killAll, run, sleep, startServer, until } from './support/server-process.ts';

afterEach(killAll);

/** Seconds. The tests prove that something happens, not how soon: the machine may be busy. */
const PATIENCE = 20;
const MULTI = ['--mode', 'multi', '--workers'];
const BROKEN = fileURLToPath(new URL('./support/broken-worker.ts', import.meta.url));
const UNSTARTED = fileURLToPath(new URL('./support/unstarted-worker.ts', import.meta.url));

/** UDP sockets bound to this port, as the kernel lists them (proc(5), /proc/net/udp). */
function udpSockets(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .filter((line) => line.trim().split(/\s+/)[1]?.endsWith(suffix)).length;
}

test('every worker has its own socket, all answer, and SIGTERM stops all and ends with status 0', async () => {
  const server = await startServer([...MULTI, '3']);
  expect(server.ready.workers).toBe(3);
  const workers = childrenOf(server.pid);
  expect(workers).toHaveLength(3);
  expect(udpSockets(server.ready.port)).toBe(3);
  for (const transport of TRANSPORTS) {
    for (let count = 0; count < 20; count++) {
      expect((await ask(transport, server.ready, 'example1.com')).answers).toHaveLength(1);
    }
  }
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(workers.filter(isAlive)).toEqual([]);
  expect(await sendUdp(server.ready, query('example1.com'), 0.2).catch(() => undefined)).toBeUndefined();
});

test.each(['random', 'flow'])(
  'one client reaches all workers with balance random, and one with flow: %s',
  async (balance) => {
    const server = await startServer([
      ...MULTI,
      '2',
      '--balance',
      balance,
      '--metrics-port',
      '0',
      '--udp-backend',
      'native',
    ]);
    const received = async () => {
      const text = await (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/metrics`)).text();
      return [...text.matchAll(/^dinodns_udp_received_total\{.*\} (\d+)$/gm)].map((match) =>
        Number(match[1]),
      );
    };
    const before = await received();
    const socket = createSocket('udp4');
    let replies = 0;
    socket.on('message', () => replies++);
    const asked = 200;
    for (let count = 0; count < asked; count++) {
      socket.send(query('example1.com'), server.ready.port, '127.0.0.1');
      if (count % 20 === 19) await sleep(0.01);
    }
    expect(await until(() => replies === asked, PATIENCE)).toBe(true);
    socket.close();
    const shares = (await received()).map((count, index) => count - (before[index] ?? 0));
    // Fewer than 60 of 200 happens by chance once in 10^8 runs.
    if (balance === 'random') expect(Math.min(...shares)).toBeGreaterThan(60);
    else expect(Math.max(...shares)).toBe(asked);
  },
);

test('without --workers there is one per usable CPU', async () => {
  const server = await startServer(['--mode', 'multi'], { wrapper: ['taskset', '-c', '0'] });
  expect(server.ready.workers).toBe(1);
});

describe('workers gather queries where they are more than the CPUs', () => {
  test.each([
    [1, {}, 0],
    [2, {}, 0],
    [2, { balance: 'flow' }, 50],
    [2, { balance: 'flow', gatherMicroseconds: 0 }, 0],
    [1, { gatherMicroseconds: 20 }, 20],
  ] as const)('%i with %j on one CPU: %i µs', (workers, options, time) => {
    const sharing = sharingOf({ balance: 'random', ...options }, workers, { limit: 1, cpus: 1 });
    expect(sharing.gatherMicroseconds).toBe(time);
  });

  test('and say so', async () => {
    const args = [...MULTI, '2', '--balance', 'flow', '--gather', '20', '--log-level', 'info'];
    const server = await startServer(args, { wrapper: ['taskset', '-c', '0'] });
    expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
    const times = () =>
      [...server.stderr.matchAll(/"gatherMicroseconds":(\d+)/g)].map((match) => Number(match[1]));
    expect(await until(() => times().length > 0, PATIENCE)).toBe(true);
    expect(new Set(times())).toEqual(new Set([20]));
  });
});

test('with one CPU, one of two workers gets the datagrams, and the other takes its place', async () => {
  const args = [...MULTI, '2', '--metrics-port', '0', '--udp-backend', 'native'];
  const server = await startServer(args, { wrapper: ['taskset', '-c', '0'] });
  const active = async () => {
    const text = await (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/metrics`)).text();
    const received = [...text.matchAll(/^dinodns_udp_received_total\{.*\} (\d+)$/gm)];
    return received.filter((match) => Number(match[1]) > 0).length;
  };
  const answersAll = async () => {
    for (let count = 0; count < 40; count++) {
      expect((await ask('udp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
    }
  };
  await answersAll();
  expect(await active()).toBe(1);
  for (const child of childrenOf(server.pid)) {
    process.kill(child, 'SIGKILL');
    expect(await until(() => !isAlive(child), PATIENCE)).toBe(true);
    expect(await until(() => udpSockets(server.ready.port) === 2, PATIENCE)).toBe(true);
    await answersAll();
  }
});

test('a worker killed under load is replaced, and the primary and the other worker keep serving', async () => {
  const server = await startServer([...MULTI, '2']);
  const [victim = -1, survivor = -1] = childrenOf(server.pid);
  let isLoading = true;
  const load = (async () => {
    while (isLoading) {
      await Promise.all(Array.from({ length: 20 }, () => sendUdp(server.ready, query('example1.com'), 0.2)));
    }
  })();
  process.kill(victim, 'SIGKILL');
  expect(await until(() => !isAlive(victim), PATIENCE)).toBe(true);
  expect(await until(() => childrenOf(server.pid).length === 2, PATIENCE)).toBe(true);
  expect(await until(() => udpSockets(server.ready.port) === 2, PATIENCE)).toBe(true);
  isLoading = false;
  await load;
  expect(childrenOf(server.pid)).toContain(survivor);
  expect(childrenOf(server.pid)).not.toContain(victim);
  for (let count = 0; count < 40; count++) {
    expect((await ask('udp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
  }
  expect(server.stderr).toContain('SIGKILL; another one starts in 0.1 s');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('a standby process has no socket, and replaces a worker that ends', async () => {
  const server = await startServer([...MULTI, '1', '--standby', '1', '--metrics-port', '0']);
  expect(server.ready.workers).toBe(1);
  expect(await until(() => childrenOf(server.pid).length === 2, PATIENCE)).toBe(true);
  expect(udpSockets(server.ready.port)).toBe(1);
  const [first = -1, second = -1] = childrenOf(server.pid);
  process.kill(first, 'SIGKILL');
  // The other worker must be ready first, which takes longer on a busy machine.
  expect(
    await until(
      () => server.stderr.includes(`worker ${second} takes its place`) || server.stderr.includes('starts in'),
      PATIENCE,
    ),
  ).toBe(true);
  const isServing = async () =>
    (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/ready`)).status === 200;
  expect(await until(isServing, 20)).toBe(true);
  for (let count = 0; count < 20; count++) {
    expect((await ask('udp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
  }
  expect(await until(() => childrenOf(server.pid).length === 2, 20)).toBe(true);
  expect(udpSockets(server.ready.port)).toBe(1);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('SIGINT stops all workers and ends with status 0', async () => {
  const server = await startServer([...MULTI, '2']);
  const workers = childrenOf(server.pid);
  server.child.kill('SIGINT');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(workers.filter(isAlive)).toEqual([]);
});

test('a signal to the whole process group, as Ctrl-C sends it, ends with status 0', async () => {
  const server = await startServer([...MULTI, '2']);
  const workers = childrenOf(server.pid);
  process.kill(-server.pid, 'SIGINT');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(workers.filter(isAlive)).toEqual([]);
});

test('a worker that hangs is replaced, and a second signal stops at once even if all hang', async () => {
  const server = await startServer([...MULTI, '2']);
  const [stuck = -1] = childrenOf(server.pid);
  process.kill(stuck, 'SIGSTOP');
  // Asked every 5 s, and given 8 s twice.
  expect(await until(() => !isAlive(stuck), 21 + PATIENCE)).toBe(true);
  expect(server.stderr).toContain(`Worker ${stuck} has not answered for 16 s and is ended.`);
  // A worker that has ended is still a child until the primary has taken notice.
  const others = () => childrenOf(server.pid).filter((pid) => pid !== stuck);
  expect(await until(() => others().length === 2, PATIENCE)).toBe(true);
  expect(await until(() => udpSockets(server.ready.port) === 2, PATIENCE)).toBe(true);
  const all = others();
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  // Two that come before the first is handled are one.
  const signals = setInterval(() => server.child.kill('SIGTERM'), 300);
  const exit = await server.exited;
  clearInterval(signals);
  expect(exit).toEqual({ code: 143, signal: null });
  expect(await until(() => all.filter(isAlive).length === 0, PATIENCE)).toBe(true);
}, 90_000);

test('a worker that ignores the stop is eventually killed', async () => {
  const server = await startServer([...MULTI, '2']);
  const [stuck = -1] = childrenOf(server.pid);
  process.kill(stuck, 'SIGSTOP');
  const start = performance.now();
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(PATIENCE * 1000);
  expect(isAlive(stuck)).toBe(false);
});

test.each(['dinodns', 'stock'])(
  'if the primary of profile %s is killed, its workers end',
  async (profile) => {
    const server = await startServer(['--profile', profile, '--mode', 'multi']);
    const workers = childrenOf(server.pid);
    expect(workers.length).toBeGreaterThan(0);
    expect(workers.length).toBeLessThanOrEqual(cpus().length);
    process.kill(server.pid, 'SIGKILL');
    expect(await until(() => workers.filter(isAlive).length === 0, PATIENCE)).toBe(true);
  },
);

test('workers that die before they are ready end in an error, not in a loop', async () => {
  const program = run(BROKEN, ['before']);
  expect(await program.exited).toEqual({ code: 4, signal: null });
  expect(program.stderr).toContain('[E_WORKER]');
  expect(program.stderr).toContain('ever ready');
  expect(program.stdout).toBe('');
});

test('workers that die as soon as they are ready are replaced at growing intervals', async () => {
  const server = await startServer(['after'], { file: BROKEN });
  const delays = () => [...server.stderr.matchAll(/starts in ([\d.]+) s/g)].map((match) => Number(match[1]));
  expect(await until(() => delays().length >= 4, 100)).toBe(true);
  expect(delays().slice(0, 4)).toEqual([0.1, 0.2, 0.4, 0.8]);
  expect((await server.stop()).code).toBe(0);
}, 120_000);

describe.each([
  ['reports', '/nowhere/node'],
  ['throws', `${BROKEN}/node`],
])('a worker that cannot be started, which Node.js %s', (_how, path) => {
  test('is tried again at growing intervals', async () => {
    const server = await startServer([path, '2'], { file: UNSTARTED });
    const delays = () =>
      [...server.stderr.matchAll(/could not be started; another one starts in ([\d.]+) s/g)].map((match) =>
        Number(match[1]),
      );
    expect(await until(() => delays().length === 2, PATIENCE)).toBe(true);
    expect(delays()).toEqual([0.1, 0.2]);
    expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
    expect((await server.stop()).code).toBe(0);
  });

  test('ends in an error if it never can', async () => {
    const program = run(UNSTARTED, [path, 'Infinity']);
    expect(await program.exited).toEqual({ code: 4, signal: null });
    expect(program.stderr).toContain(
      'could not be started, as at least 4 in a row before it: none was ever ready.',
    );
    expect(program.stderr).toContain('[E_WORKER]');
    expect(program.stdout).toBe('');
  });
});

describe('the back-off', () => {
  test('doubles up to its limit, and starts over after a worker was stable', () => {
    const backoff = new Backoff();
    const delays = Array.from({ length: 9 }, () => backoff.ended(0.5));
    expect(delays).toEqual([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, MAX_DELAY_SECONDS, MAX_DELAY_SECONDS]);
    expect(backoff.ended(STABLE_SECONDS)).toBe(0.1);
  });

  test('does not count killed workers against their place', () => {
    const backoff = new Backoff();
    for (let count = 0; count < 2 * MAX_FAILED_STARTS; count++)
      expect(backoff.ended(undefined, true)).toBe(0.1);
    for (let count = 0; count < 9; count++) backoff.ended(0.5);
    expect(backoff.ended(0.5, true)).toBe(1);
  });

  test('gives up after the documented number of consecutive failed starts', () => {
    const backoff = new Backoff();
    for (let count = 1; count < MAX_FAILED_STARTS; count++)
      expect(backoff.ended(undefined)).not.toBe('give up');
    expect(backoff.ended(1)).not.toBe('give up');
    for (let count = 1; count < MAX_FAILED_STARTS; count++)
      expect(backoff.ended(undefined)).not.toBe('give up');
    expect(backoff.ended(undefined)).toBe('give up');
  });
});
