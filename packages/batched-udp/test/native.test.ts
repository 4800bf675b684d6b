/** What only the native backend does, and failures that are put in where the loopback interface has none. */
import { readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { faultyLibc } from './support/faulty-libc.ts';
import { collector, copyOf, echo, open, openWith, text, turn } from './support/sockets.ts';

const EPERM = 1;
const EINTR = 4;
const ENOENT = 2;
const ENETDOWN = 100;
const EHOSTUNREACH = 113;
const EACCES = 13;
const EMFILE = 24;
const localhost = '127.0.0.1';

/** A client and what it has received. */
async function clientOf(port: number) {
  const { received, onBatch } = collector();
  const client = await open({ backend: 'native', connect: { address: localhost, port }, onBatch });
  return { client, received };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));

describe('batches', () => {
  it('brings a burst in batches of at most batchSize, in order', async () => {
    const { received, batches, onBatch } = collector();
    const server = await open({ backend: 'native', address: localhost, batchSize: 16, onBatch });
    const { client } = await clientOf(server.local.port);
    for (const n of numbers(0, 100)) client.queue(Buffer.from(n));
    expect(client.flush()).toBe(100);
    expect(client.counters.sendCalls).toBe(2); // Its own batchSize is 64.
    await expect.poll(() => received.length).toBe(100);
    expect(text(received)).toEqual(numbers(0, 100));
    expect(batches).toEqual([16, 16, 16, 16, 16, 16, 4]);
  });

  it('receives when asked, as many batches as asked', async () => {
    const { received, onBatch } = collector();
    const server = await open({ backend: 'native', address: localhost, batchSize: 8, onBatch });
    const { client } = await clientOf(server.local.port);
    for (const n of numbers(0, 40)) client.queue(Buffer.from(n));
    client.flush();
    expect(server.receive(2)).toBe(16);
    expect(server.receive()).toBe(24);
    expect(server.receive()).toBe(0);
    expect(text(received)).toEqual(numbers(0, 40));
  });

  it('replies to some datagrams of a batch, each to its own source', async () => {
    const server = await open({
      backend: 'native',
      address: localhost,
      onBatch: (batch) => {
        for (let i = batch.count - 1; i >= 0; i--) {
          const at = batch.offsets[i] ?? 0;
          if ((batch.bytes[at] ?? 0) % 3 === 0) continue;
          batch.bytes[at + 1] = 99;
          batch.reply(i, 2);
        }
      },
    });
    const clients = await Promise.all(Array.from({ length: 30 }, () => clientOf(server.local.port)));
    for (let round = 0; round < 3; round++) {
      clients.forEach(({ client }, i) => {
        client.queue(Buffer.from([i + round]));
        client.flush();
      });
      server.receive();
    }
    const expected = clients.map((_, i) => [i, i + 1, i + 2].filter((n) => n % 3 !== 0).map((n) => [n, 99]));
    await expect
      .poll(() => clients.map(({ received }) => received.map(({ bytes }) => [...bytes])))
      .toEqual(expected);
  });

  it('tells how long datagrams waited in the kernel, of every datagram', async () => {
    const { received, onBatch } = collector();
    const server = await open({
      backend: 'native',
      address: localhost,
      timestamps: true,
      batchSize: 4,
      onBatch,
    });
    const { client } = await clientOf(server.local.port);
    // The kernel begins to stamp a moment after the first socket has asked for it, and until then says "now".
    await expect
      .poll(() => {
        received.length = 0;
        client.queue(Buffer.from('early'));
        client.flush();
        const sent = performance.now();
        while (performance.now() - sent < 30);
        client.queue(Buffer.from('late'));
        client.flush();
        server.receive();
        return Math.min(1, ...received.map(({ age }) => age)) === 1 && (received[0]?.age ?? 0) > 29e6;
      })
      .toBe(true);
    expect(received.map(({ age }) => Number.isFinite(age))).toEqual([true, true]);
    expect(received[1]?.age).toBeLessThan(received[0]?.age ?? 0);
  });

  it('gives no ages that were not asked for', async () => {
    const { received, onBatch } = collector();
    const server = await open({ backend: 'native', address: localhost, onBatch });
    const { client } = await clientOf(server.local.port);
    client.queue(Buffer.from('x'));
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]?.age).toBeNaN();
  });

  it('counts what the kernel dropped because the buffer was full', async () => {
    const server = await open({ backend: 'native', address: localhost, receiveBufferBytes: 4096 });
    const { client } = await clientOf(server.local.port);
    expect(server.counters.kernelDrops).toBe(0);
    for (let i = 0; i < 500; i++) client.queue(Buffer.from('x'));
    client.flush();
    const handled = server.receive();
    expect(handled).toBeLessThan(500);
    expect(server.counters.kernelDrops).toBe(500 - handled);
    await server.close();
    expect(server.counters.kernelDrops).toBe(500 - handled);
  });

  it('keeps the memory that the kernel writes to', async () => {
    let bytes: Uint8Array | undefined;
    const server = await open({
      backend: 'native',
      address: localhost,
      onBatch: (batch) => {
        bytes = batch.bytes;
        echo(batch);
      },
    });
    const { client, received } = await clientOf(server.local.port);
    client.queue(Buffer.from('x'));
    await expect.poll(() => received.length).toBe(1);
    const buffer = bytes?.buffer as ArrayBuffer;
    expect(() => structuredClone(buffer, { transfer: [buffer] })).toThrow();
    expect(() => buffer.transfer()).toThrow(TypeError);
    expect(buffer.detached).toBe(false);
  });

  it('keeps its replies in their slots whatever the handler does to what it is shown', async () => {
    const server = await open({
      backend: 'native',
      address: localhost,
      onBatch: (batch) => {
        echo(batch);
        batch.offsets.fill(0xffff_ffff);
        batch.lengths.fill(0xffff_ffff);
        batch.ports.fill(1);
        batch.addresses.fill(1);
      },
    });
    const { client, received } = await clientOf(server.local.port);
    client.queue(Buffer.from('x'));
    await expect.poll(() => text(received)).toEqual(['x']);
  });

  const linkLocal = Object.entries(networkInterfaces())
    .flatMap(([name, entries]) => (entries ?? []).map((entry) => ({ name, entry })))
    .find(({ entry }) => entry.family === 'IPv6' && entry.scopeid);

  it(`answers ${linkLocal ? 'a link-local address by its zone' : 'nobody link-local: this host has no such address'}`, async () => {
    if (!linkLocal) return;
    const address = `${linkLocal.entry.address}%${linkLocal.name}`;
    const server = await open({ backend: 'native', address: '::', onBatch: echo });
    const { received, onBatch } = collector();
    const client = await open({ backend: 'native', connect: { address, port: server.local.port }, onBatch });
    client.queue(Buffer.from('x'));
    await expect.poll(() => text(received)).toEqual(['x']);
  });
});

describe('a kernel that does not take all at once', () => {
  it('sends the rest of a partial send, in order', async () => {
    const libc = await faultyLibc();
    const server = openWith(libc, { onBatch: echo });
    const { client, received } = await clientOf(server.local.port);
    libc.sendFaults.push({ take: 3 }, { take: 1 }, { errno: EINTR }, { take: 5 });
    for (const n of numbers(0, 20)) client.queue(Buffer.from(n));
    client.flush();
    await expect.poll(() => received.length).toBe(20);
    expect(text(received)).toEqual(numbers(0, 20));
    expect(server.counters).toMatchObject({ sent: 20, sendErrors: 0, sendCalls: 5 });
  });

  it('keeps replies that are not taken, unharmed by what is received next, and reads no more than it can keep', async () => {
    const libc = await faultyLibc();
    const seen = collector();
    const server = openWith(libc, {
      batchSize: 8,
      sendQueueLength: 16,
      onBatch: (batch) => {
        seen.onBatch(batch);
        echo(batch);
      },
    });
    const { client, received } = await clientOf(server.local.port);
    libc.sendFaults.push({ take: 2 });
    libc.sendFaults.push(...new Array(1).fill({ errno: 11 }));
    for (const n of numbers(0, 8)) client.queue(Buffer.from(n));
    client.flush();
    server.receive(1);
    expect(server.pending).toBe(6);
    libc.stalled = true;
    for (const n of numbers(8, 100)) client.queue(Buffer.from(n));
    client.flush();
    for (let i = 0; i < 50; i++) await turn();
    // 16 + 8 places: a batch is read as long as 8 are free, so at 6 and at 14, and not at 22.
    expect(server.pending).toBe(22);
    expect(seen.received.length).toBe(24);
    expect(server.receive()).toBe(0);
    libc.stalled = false;
    await expect.poll(() => received.length).toBe(100);
    expect(text(received)).toEqual(numbers(0, 100));
    expect(server.counters).toMatchObject({ received: 100, sent: 100, sendErrors: 0 });
  });

  it('keeps a client receiving while its own queue is stuck, and says when that has room again', async () => {
    const libc = await faultyLibc();
    const peer = await open({ backend: 'native', address: localhost });
    const { received, onBatch } = collector();
    let drained = 0;
    const client = openWith(libc, {
      connect: peer.local,
      sendQueueLength: 4,
      onBatch,
      onDrain: () => drained++,
    });
    libc.stalled = true;
    for (const n of numbers(0, 4)) expect(client.queue(Buffer.from(n))).toBe(true);
    expect(client.queue(Buffer.from('4'))).toBe(false);
    expect(client.flush()).toBe(0);
    peer.queue(Buffer.from('hello'), peer.peerOf(localhost, client.local.port));
    await expect.poll(() => text(received)).toEqual(['hello']);
    expect(client.pending).toBe(4);
    expect(drained).toBe(0);
    libc.stalled = false;
    await expect.poll(() => drained).toBe(1);
    await expect.poll(() => client.pending).toBe(0);
    expect(client.counters.sent).toBe(4);
  });

  it('goes round its queue many times without mixing datagrams up', async () => {
    const libc = await faultyLibc();
    const { received, onBatch } = collector();
    const server = await open({ backend: 'native', address: localhost, onBatch });
    const client = openWith(libc, { connect: server.local, sendQueueLength: 5, batchSize: 3 });
    let next = 0;
    for (let round = 0; round < 60; round++) {
      libc.sendFaults.push({ take: 1 + (round % 3) }, { errno: 11 });
      while (client.queue(Buffer.from(String(next)))) next++;
      client.flush();
      server.receive();
    }
    while (client.pending > 0) client.flush();
    await expect.poll(() => received.length).toBe(next);
    expect(text(received)).toEqual(numbers(0, next));
  });

  it('sends what is stuck before it closes, and gives up on a kernel that takes nothing', async () => {
    const libc = await faultyLibc();
    const server = openWith(libc, { onBatch: echo });
    const { client, received } = await clientOf(server.local.port);
    libc.stalled = true;
    client.queue(Buffer.from('x'));
    client.flush();
    const closed = server.close();
    for (let i = 0; i < 20; i++) await turn();
    libc.stalled = false;
    await closed;
    await expect.poll(() => text(received)).toEqual(['x']);

    const stuck = openWith(libc, { connect: client.local });
    libc.stalled = true;
    stuck.queue(Buffer.from('never'));
    await stuck.close();
    expect(stuck.counters.sent).toBe(0);
    const calls = libc.calls.length;
    expect([stuck.flush(), stuck.receive()]).toEqual([0, 0]);
    for (let i = 0; i < 20; i++) await turn();
    expect(libc.calls.length).toBe(calls);
  });
});

describe('errors of the kernel', () => {
  it('leaves out the one datagram that is refused', async () => {
    const libc = await faultyLibc();
    const server = openWith(libc, { onBatch: echo });
    const { client, received } = await clientOf(server.local.port);
    libc.sendFaults.push({ take: 2 }, { errno: EPERM }, { take: 1 }, { errno: EHOSTUNREACH });
    for (const n of numbers(0, 10)) client.queue(Buffer.from(n));
    client.flush();
    await expect.poll(() => received.length).toBe(8);
    expect(text(received)).toEqual(['0', '1', '3', '5', '6', '7', '8', '9']);
    expect(server.counters).toMatchObject({ sent: 8, sendErrors: 2 });
  });

  it('answers the others of a batch when one has source port 0', async () => {
    // Only a raw socket sends from port 0; a reply there is EINVAL, as it is for the peer made here.
    const server = await open({ backend: 'native', address: localhost });
    const { received, onBatch } = collector();
    const other = await open({ backend: 'native', address: localhost, onBatch });
    const peer = server.peerOf(localhost, other.local.port);
    const portless = { ...peer, port: 0, sockaddr: peer.sockaddr.slice().fill(0, 2, 4) };
    for (const [n, to] of [
      ['1', peer],
      ['2', portless],
      ['3', peer],
    ] as const) {
      server.queue(Buffer.from(n), to);
    }
    server.flush();
    await expect.poll(() => text(received)).toEqual(['1', '3']);
    expect(server.counters).toMatchObject({ sent: 2, sendErrors: 1 });
  });

  it('passes over interruptions and reports other errors of receiving', async () => {
    const libc = await faultyLibc();
    const errors: unknown[] = [];
    const { received, onBatch } = collector();
    const server = openWith(libc, { onBatch, onError: (error) => errors.push(error) });
    const { client } = await clientOf(server.local.port);
    libc.receiveFaults.push(EINTR, ENETDOWN, EINTR);
    client.queue(Buffer.from('x'));
    await expect.poll(() => text(received)).toEqual(['x']);
    expect(errors).toEqual([expect.objectContaining({ code: 'ENETDOWN', syscall: 'recvmmsg' })]);
  });

  it('asks again where errno is that of another call, and reports it if it stays', async () => {
    const libc = await faultyLibc();
    const errors: unknown[] = [];
    const { received, onBatch } = collector();
    const server = openWith(libc, { onBatch, onError: (error) => errors.push(error) });
    const { client } = await clientOf(server.local.port);
    libc.receiveFaults.push(ENOENT);
    client.queue(Buffer.from('x'));
    await expect.poll(() => text(received)).toEqual(['x']);
    expect(errors).toEqual([]);
    libc.receiveFaults.push(...new Array(8).fill(ENOENT));
    client.queue(Buffer.from('y'));
    await expect.poll(() => text(received)).toEqual(['x', 'y']);
    expect(errors).toEqual([expect.objectContaining({ code: 'ENOENT', syscall: 'recvmmsg' })]);
  });

  it.each([
    ['bind', EACCES, 'EACCES', /ip_unprivileged_port_start/],
    ['socket', EMFILE, 'EMFILE', /ulimit -n/],
    ['timerfd_create', EMFILE, 'EMFILE', /ulimit -n/],
  ] as const)('says what failed when %s does, and leaves nothing open', async (call, errno, code, advice) => {
    const libc = await faultyLibc();
    libc.openFaults.set(call, errno);
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 20; i++) {
      expect(() => openWith(libc, {})).toThrow(
        expect.objectContaining({ code, syscall: call, message: expect.stringMatching(advice) }),
      );
    }
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('leaves nothing open after many sockets', async () => {
    const libc = await faultyLibc();
    const count = () => readdirSync('/proc/self/fd').length;
    const before = count();
    for (let i = 0; i < 50; i++) {
      const socket = openWith(libc, { onBatch: (batch) => copyOf(batch, 0) });
      // The socket, and the timer of the thread's wait.
      expect(count()).toBe(before + 2);
      await socket.close();
      await socket.close();
    }
    expect(count()).toBe(before);
  });

  it('refuses peers that are not its own', async () => {
    const v6 = await open({ backend: 'native', address: '::1' });
    const v4 = await open({ backend: 'native', address: localhost });
    const foreign = v6.peerOf('::1', 53);
    expect(() => v4.queue(Buffer.from('x'), foreign)).toThrow(
      expect.objectContaining({ code: 'ERR_UDP_ADDRESS' }),
    );
    for (const length of [0, 15, 17, 4096]) {
      const forged = { ...foreign, sockaddr: new Uint8Array(length) };
      expect(() => v4.queue(Buffer.from('x'), forged)).toThrow(
        expect.objectContaining({ code: 'ERR_UDP_ADDRESS' }),
      );
    }
  });
});
