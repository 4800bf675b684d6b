/** Datagrams of one client, spread over the sockets of a port. */
import { createSocket } from 'node:dgram';
import { expect, it } from 'vitest';
import type { UdpSocket } from '../src/index.ts';
import { open } from './support/sockets.ts';

const address = '127.0.0.1';
const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

/** Sends `count` datagrams from one socket, and waits until all of them have been received. */
async function flood(sockets: readonly UdpSocket[], port: number, count: number): Promise<number[]> {
  const before = sockets.map(({ counters }) => counters.received);
  const client = createSocket('udp4');
  for (let sent = 0; sent < count; sent += 50) {
    for (let index = 0; index < 50; index++) client.send('query', port, address);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const received = () => sockets.map(({ counters }, index) => counters.received - (before[index] ?? 0));
  await expect.poll(() => received().reduce((sum, own) => sum + own, 0)).toBe(count);
  client.close();
  return received();
}

it.runIf(native)('spreads one flow evenly, and over those that are left when one is closed', async () => {
  const options = { address, reusePort: true, spreadOver: 3, backend: 'native' } as const;
  const first = await open(options);
  const { port } = first.local;
  const second = await open({ ...options, port });
  const third = await open({ ...options, port });
  const count = 3000;
  const five = 5 * Math.sqrt(count * (1 / 3) * (2 / 3));
  for (const share of await flood([first, second, third], port, count)) {
    expect(Math.abs(share - count / 3)).toBeLessThan(five);
  }

  // A third of the datagrams is balanced by flow, and so all of it goes to one of the two.
  await second.close();
  const left = await flood([first, third], port, count);
  expect(Math.min(...left)).toBeGreaterThan(count / 3 - five);

  // The one that takes its place gets its share again.
  const fourth = await open({ ...options, port });
  for (const share of await flood([first, third, fourth], port, count)) {
    expect(Math.abs(share - count / 3)).toBeLessThan(five);
  }
});

it('is refused without reusePort, and for a number that is none', async () => {
  await expect(open({ address, spreadOver: 2 })).rejects.toThrow(/reusePort/);
  await expect(open({ address, reusePort: true, spreadOver: 0 })).rejects.toThrow(/spreadOver 0/);
});
