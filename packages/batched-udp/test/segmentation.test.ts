/** Runs of datagrams as one message (UDP_SEGMENT): the same datagrams arrive, whatever their lengths. */
import { expect, it } from 'vitest';
import { NativeUdpSocket } from '../src/native/socket.ts';
import { settle } from '../src/options.ts';
import { faultyLibc } from './support/faulty-libc.ts';
import { collector, keep, open, text } from './support/sockets.ts';

const EIO = 5;
const localhost = '127.0.0.1';

/** Lengths that make runs of one, runs with a shorter end, runs beyond 64, empty and large datagrams. */
const lengths = [
  ...Array.from({ length: 150 }, () => 33),
  ...[32, 33, 33, 40, 40, 40, 12, 0, 0, 5, 5, 4, 3, 2000, 2000, 1232, 1232, 1],
  ...Array.from({ length: 100 }, (_, i) => 20 + (i % 7)),
];
const datagrams = lengths.map((length, i) => String(i).padEnd(length, '.').slice(0, length));

async function pair(libc = faultyLibc()) {
  const { received, onBatch } = collector();
  const server = await open({ backend: 'native', address: localhost, receiveBufferBytes: 1 << 20, onBatch });
  const client = keep(
    new NativeUdpSocket(
      await libc,
      settle({
        address: localhost,
        connect: { address: localhost, port: server.local.port },
        segmentation: true,
        onBatch: () => undefined,
      }),
    ),
  );
  return { received, client };
}

it('delivers every datagram whole and in order, with fewer system calls', async () => {
  const { received, client } = await pair();
  for (const datagram of datagrams) client.queue(Buffer.from(datagram));
  expect(client.flush()).toBe(datagrams.length);
  await expect.poll(() => received.length).toBe(datagrams.length);
  expect(text(received)).toEqual(datagrams);
  expect(client.counters).toMatchObject({ sent: datagrams.length, sendErrors: 0 });
});

it('makes no run longer than an IP packet', async () => {
  const libc = await faultyLibc();
  const { received, client } = await pair(Promise.resolve(libc));
  const long = Array.from({ length: 130 }, (_, i) => String(i).padEnd(1232, '-'));
  for (const datagram of long) client.queue(Buffer.from(datagram));
  expect(client.flush()).toBe(130);
  await expect.poll(() => text(received)).toEqual(long);
  expect(client.counters.sendCalls).toBe(1); // Three runs: had one been refused, there would be more calls.
});

it('goes on over the end of the queue', async () => {
  const { received, client } = await pair();
  const expected: string[] = [];
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 61; i++) {
      expected.push(`${round}/${i}`.padEnd(33, '-'));
      client.queue(Buffer.from(expected.at(-1) ?? ''));
    }
    client.flush();
    await expect.poll(() => received.length).toBe(expected.length);
  }
  expect(text(received)).toEqual(expected);
});

it('sends one by one where the device refuses runs, and loses nothing', async () => {
  const libc = await faultyLibc();
  const { received, client } = await pair(Promise.resolve(libc));
  libc.sendFaults.push({ take: 1 }, { errno: EIO });
  for (const datagram of datagrams) client.queue(Buffer.from(datagram));
  expect(client.flush()).toBe(datagrams.length);
  await expect.poll(() => received.length).toBe(datagrams.length);
  expect(text(received)).toEqual(datagrams);
  expect(client.counters).toMatchObject({ sent: datagrams.length, sendErrors: 0 });
});
