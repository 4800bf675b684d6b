/** Reading less often under load. */
import { expect, it } from 'vitest';
import type { UdpSocketOptions } from '../src/index.ts';
import { NativeUdpSocket } from '../src/native/socket.ts';
import { settle } from '../src/options.ts';
import { faultyLibc } from './support/faulty-libc.ts';
import { echo, keep, open } from './support/sockets.ts';

const address = '127.0.0.1';
const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

/** An echo server, and how often it slept and for how long. */
async function echoServer(options: Partial<UdpSocketOptions>) {
  const libc = await faultyLibc();
  const sleeps: number[] = [];
  const watched = {
    ...libc,
    usleep: (microseconds: number) => {
      sleeps.push(microseconds);
      return libc.usleep(microseconds);
    },
  };
  const server = keep(new NativeUdpSocket(watched, settle({ address, onBatch: echo, ...options })));
  return { server, sleeps };
}

/** A client that sends bursts and counts what comes back. */
async function client(port: number) {
  let answers = 0;
  const socket = await open({
    connect: { address, port },
    receiveBufferBytes: 1 << 20,
    onBatch: (batch) => {
      answers += batch.count;
    },
  });
  return {
    get answers() {
      return answers;
    },
    burst(count: number) {
      for (let i = 0; i < count; i++) socket.queue(Uint8Array.of(i));
      socket.flush();
    },
  };
}

it.runIf(native)('waits between the reads of many datagrams, and answers each', async () => {
  const { server, sleeps } = await echoServer({ gatherMicroseconds: 20, receiveBufferBytes: 1 << 20 });
  const asking = await client(server.local.port);
  for (let bursts = 1; bursts <= 50; bursts++) {
    asking.burst(10);
    await expect.poll(() => asking.answers, { interval: 1 }).toBe(10 * bursts);
  }
  expect(server.counters).toMatchObject({ received: 500, sent: 500 });
  expect(sleeps.length).toBeGreaterThanOrEqual(50);
  expect(new Set(sleeps)).toEqual(new Set([20]));
});

it.runIf(native)(
  'does not wait for a lone datagram, behind a full batch, or unless it is asked to',
  async () => {
    const lone = await echoServer({ gatherMicroseconds: 1000 });
    const asking = await client(lone.server.local.port);
    for (let asked = 1; asked <= 20; asked++) {
      asking.burst(1);
      await expect.poll(() => asking.answers, { interval: 1 }).toBe(asked);
    }
    expect(lone.sleeps).toEqual([]);

    const full = await echoServer({ gatherMicroseconds: 1000, batchSize: 4 });
    const bursting = await client(full.server.local.port);
    bursting.burst(4 * 4);
    await expect.poll(() => bursting.answers).toBe(16);
    expect(full.sleeps).toEqual([]);

    const eager = await echoServer({});
    const other = await client(eager.server.local.port);
    other.burst(30);
    await expect.poll(() => other.answers).toBe(30);
    expect(eager.sleeps).toEqual([]);
  },
);

it.runIf(native)('leaves the event loop to others however much comes in', async () => {
  const { server, sleeps } = await echoServer({ gatherMicroseconds: 1000 });
  const asking = await client(server.local.port);
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  // Server and client take turns in one event loop: every turn of the server's must end for the client to send.
  for (let bursts = 1; bursts <= 20; bursts++) {
    const before = sleeps.length;
    asking.burst(10);
    await expect.poll(() => asking.answers, { interval: 1 }).toBe(10 * bursts);
    expect(sleeps.length - before).toBeLessThanOrEqual(10);
  }
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

it('takes 0 to 1000', async () => {
  await expect(open({ address, gatherMicroseconds: 1001 })).rejects.toThrow(/gatherMicroseconds 1001/);
  await expect(open({ address, gatherMicroseconds: -1 })).rejects.toThrow(/gatherMicroseconds -1/);
});
