/** Replies leave from the address that was asked. A connected client drops those from any other. */
import { describe, expect, it } from 'vitest';
import type { Peer } from '../src/index.ts';
import { settle } from '../src/options.ts';
import { faultyLibc } from './support/faulty-libc.ts';
import { collector, copyOf, echo, open, openWith, text } from './support/sockets.ts';

/** All of 127.0.0.0/8 is on the loopback interface, and its routes begin with 127.0.0.1. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.0.0.2'];
const WILDCARDS = ['0.0.0.0', '::'];

async function askEach(port: number): Promise<string[]> {
  const { received, onBatch } = collector();
  for (const [index, address] of ADDRESSES.entries()) {
    const client = await open({ backend: 'native', connect: { address, port }, onBatch });
    client.queue(Buffer.from(`to ${address}`));
    client.flush();
    await expect.poll(() => received.length).toBe(index + 1);
  }
  return text(received);
}

const EXPECTED = ADDRESSES.map((address) => `to ${address}`);

describe.each(WILDCARDS)('a socket that is bound to %s', (address) => {
  it.each([false, true])(
    'replies in place from the address that was asked (timestamps: %s)',
    async (timestamps) => {
      const server = await open({ backend: 'native', address, timestamps, onBatch: echo });
      expect(await askEach(server.local.port)).toEqual(EXPECTED);
    },
  );

  it('replies later from it', async () => {
    const peers: [Peer, Buffer][] = [];
    const server = await open({
      backend: 'native',
      address,
      onBatch: (batch) => {
        for (let i = 0; i < batch.count; i++)
          peers.push([batch.peer(i), Buffer.from(copyOf(batch, i).bytes)]);
        setTimeout(() => {
          for (const [to, datagram] of peers.splice(0)) server.queue(datagram, to);
        }, 5);
      },
    });
    expect(await askEach(server.local.port)).toEqual(EXPECTED);
  });

  it('replies from it when the kernel had no room at first', async () => {
    const libc = await faultyLibc();
    const server = openWith(libc, { address, onBatch: echo });
    const { received, onBatch } = collector();
    libc.stalled = true;
    for (const to of ADDRESSES) {
      const client = await open({
        backend: 'native',
        connect: { address: to, port: server.local.port },
        onBatch,
      });
      client.queue(Buffer.from(`to ${to}`));
      client.flush();
    }
    await expect.poll(() => server.pending).toBe(ADDRESSES.length);
    libc.stalled = false;
    await expect.poll(() => text(received).toSorted()).toEqual(EXPECTED.toSorted());
  });

  it('sends from an address of the kernel what is no reply', async () => {
    const { received, onBatch } = collector();
    const other = await open({ backend: 'native', address: '127.0.0.1', onBatch });
    const server = await open({ backend: 'native', address });
    const to = address === '::' ? '::ffff:127.0.0.1' : '127.0.0.1';
    server.queue(Buffer.from('first'), server.peerOf(to, other.local.port));
    await expect.poll(() => text(received)).toEqual(['first']);
  });
});

it('costs a socket with an address of its own, or a peer, nothing', () => {
  const onBatch = () => undefined;
  const keeps = (options: object) => settle({ onBatch, ...options }).keepsAddress;
  expect(WILDCARDS.map((address) => keeps({ address }))).toEqual([true, true]);
  expect([keeps({ address: '127.0.0.1' }), keeps({ address: '::1' })]).toEqual([false, false]);
  expect(keeps({ address: '0.0.0.0', connect: { address: '127.0.0.1', port: 53 } })).toBe(false);
});
