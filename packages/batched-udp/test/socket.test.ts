/** What both backends do, over the loopback interface. */
import { createSocket } from 'node:dgram';
import { describe, expect, it } from 'vitest';
import { openUdpSocket, type Peer, type UdpSocket } from '../src/index.ts';
import { collector, echo, open, text, turn } from './support/sockets.ts';

const wildcard = { '127.0.0.1': '0.0.0.0', '::1': '::' } as const;

describe.each([
  { backend: 'native', address: '127.0.0.1', family: 4 },
  { backend: 'native', address: '::1', family: 6 },
  { backend: 'dgram', address: '127.0.0.1', family: 4 },
  { backend: 'dgram', address: '::1', family: 6 },
] as const)('$backend over IPv$family', ({ backend, address, family }) => {
  const options = { backend, address } as const;

  /** Sends to a server, with at most `window` answers outstanding, so that no kernel buffer overflows. */
  async function exchange(
    client: UdpSocket,
    count: number,
    received: readonly unknown[],
    window = 32,
  ): Promise<void> {
    for (let sent = 0; sent < count; ) {
      const room = sent - received.length < window;
      if (room && client.queue(Buffer.from(`datagram ${sent}`))) sent++;
      else await expect.poll(() => sent - received.length < window, { interval: 1 }).toBe(true);
    }
    await expect.poll(() => received.length, { interval: 2 }).toBe(count);
  }

  it('says which it is, where it listens, and which buffers the kernel gave', async () => {
    const socket = await open({ ...options, receiveBufferBytes: 100_000, sendBufferBytes: 50_000 });
    expect(socket.backend).toBe(backend);
    expect(socket.reason).toBe(backend === 'native' ? null : 'the option backend requests dgram');
    expect(socket.local).toEqual({ address, family, port: expect.any(Number) });
    expect(socket.local.port).toBeGreaterThan(0);
    expect(socket.remote).toBeNull();
    // Linux doubles what is asked for, for its own bookkeeping.
    expect(socket.receiveBufferBytes).toBe(200_000);
    expect(socket.sendBufferBytes).toBe(100_000);
  });

  it('replies in place, in order, to a connected client', async () => {
    const server = await open({ ...options, onBatch: echo });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: server.local, onBatch });
    expect(client.remote).toEqual(server.local);
    await exchange(client, 500, received);
    expect(text(received)).toEqual(Array.from({ length: 500 }, (_, i) => `datagram ${i}`));
    expect(received[0]?.port).toBe(server.local.port);
    expect(server.counters).toMatchObject({
      received: 500,
      sent: 500,
      sendErrors: 0,
      truncated: 0,
      refused: 0,
    });
    await expect.poll(() => client.pending).toBe(0);
    expect(client.counters).toMatchObject({ received: 500, sent: 500 });
  });

  it('shows the source as bytes and as a peer to whom a reply may go later', async () => {
    const peers: Peer[] = [];
    const seen = collector();
    const server = await open({
      backend,
      address: wildcard[address],
      onBatch: (batch) => {
        seen.onBatch(batch);
        for (let i = 0; i < batch.count; i++) peers.push(batch.peer(i));
      },
    });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: { address, port: server.local.port }, onBatch });
    client.queue(Buffer.from('question'));
    await expect.poll(() => peers.length).toBe(1);
    expect(peers[0]).toMatchObject({ address, family, port: client.local.port });
    expect(seen.received[0]?.port).toBe(client.local.port);
    const v4 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1];
    expect([...(seen.received[0]?.address ?? [])]).toEqual(family === 4 ? v4 : [...new Array(15).fill(0), 1]);
    await turn();
    expect(server.queue(Buffer.from('answer'), peers[0])).toBe(true);
    await expect.poll(() => text(received)).toEqual(['answer']);
  });

  it('sends to peers by address, without being connected', async () => {
    const { received, onBatch } = collector();
    const server = await open({ ...options, onBatch });
    const client = await open(options);
    const peer = client.peerOf(address, server.local.port);
    const at = client.reserve();
    client.sendBytes.set(Buffer.from('in place'), at);
    client.commit(8, peer);
    client.queue(Buffer.from('copied'), peer);
    client.flush();
    await expect.poll(() => text(received)).toEqual(['in place', 'copied']);
    expect(() => client.queue(Buffer.from('nobody'))).toThrow(
      expect.objectContaining({ code: 'ERR_UDP_STATE' }),
    );
  });

  it('flushes what is queued by itself', async () => {
    const { received, onBatch } = collector();
    const server = await open({ ...options, onBatch });
    const client = await open({ backend, connect: server.local });
    client.queue(Buffer.from('unflushed'));
    await expect.poll(() => text(received)).toEqual(['unflushed']);
  });

  it('receives empty datagrams, and sends them', async () => {
    const server = await open({ ...options, onBatch: echo });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: server.local, onBatch });
    client.queue(new Uint8Array(0));
    client.queue(Buffer.from('after'));
    await expect.poll(() => text(received)).toEqual(['', 'after']);
  });

  it('marks and cuts a datagram longer than a slot, and takes one that just fits', async () => {
    const { received, onBatch } = collector();
    const server = await open({ ...options, slotBytes: 512, onBatch });
    const client = await open({ backend, connect: server.local, slotBytes: 65_507 });
    for (const length of [512, 513, 60_000]) client.queue(Buffer.alloc(length, length % 251));
    await expect.poll(() => received.length).toBe(3);
    expect(received.map(({ bytes, truncated }) => [bytes.length, truncated])).toEqual([
      [512, false],
      [512, true],
      [512, true],
    ]);
    expect(received[2]?.bytes.every((byte) => byte === 60_000 % 251)).toBe(true);
    expect(server.counters.truncated).toBe(2);
  });

  it('refuses replies that do not fit, and replies to datagrams that are not there', async () => {
    const wrong: unknown[] = [];
    const attempt = (call: () => void) => {
      try {
        call();
        wrong.push('accepted');
      } catch (error) {
        wrong.push(error instanceof RangeError ? 'RangeError' : error);
      }
    };
    let late: (() => void) | undefined;
    const server = await open({
      ...options,
      onBatch: (batch) => {
        for (const length of [-1, 0.5, Number.NaN, 4097, 2 ** 32, Number.POSITIVE_INFINITY]) {
          attempt(() => batch.reply(0, length));
        }
        for (const i of [-1, batch.count, 0.5, Number.NaN, 2 ** 32]) {
          attempt(() => batch.reply(i, 1));
          attempt(() => batch.peer(i));
        }
        late = () => batch.reply(0, 1);
        batch.reply(0, 3);
        batch.reply(0, 2);
      },
    });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: server.local, onBatch });
    client.queue(Buffer.from('abc'));
    await expect.poll(() => text(received)).toEqual(['ab']);
    expect(wrong).toEqual(new Array(16).fill('RangeError'));
    expect(late).toThrow(RangeError);
  });

  it('refuses to queue what does not fit, and is full at the length of its queue', async () => {
    let drained = 0;
    const server = await open({ ...options, slotBytes: 512 });
    const client = await open({
      backend,
      connect: server.local,
      slotBytes: 512,
      sendQueueLength: 4,
      onDrain: () => drained++,
    });
    expect(client.queue(new Uint8Array(513))).toBe(false);
    for (const length of [-1, 513, Number.NaN]) {
      client.reserve();
      expect(() => client.commit(length)).toThrow(RangeError);
    }
    for (let i = 0; i < 4; i++) expect(client.queue(Buffer.from([i]))).toBe(true);
    expect(client.queue(Buffer.from([4]))).toBe(false);
    expect(client.reserve()).toBe(-1);
    expect(client.pending).toBe(4);
    await expect.poll(() => drained).toBe(1);
    expect(client.pending).toBe(0);
  });

  it('shares a port among sockets with reusePort, and keeps it from sockets without', async () => {
    const handlers = [collector(), collector()];
    const first = await open({ ...options, reusePort: true, onBatch: handlers[0]?.onBatch ?? echo });
    const { port } = first.local;
    await open({ ...options, port, reusePort: true, onBatch: handlers[1]?.onBatch ?? echo });
    await expect(open({ ...options, port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      syscall: 'bind',
      message: `bind ${address} port ${port}: EADDRINUSE: another socket uses it; choose another port, or set reusePort on both`,
    });
    // The kernel chooses by the hash of the flow: of 64 flows, all to one socket happens once in 2^63 times.
    for (let i = 0; i < 64; i++) {
      const client = await open({ backend, connect: { address, port } });
      client.queue(Buffer.from([i]));
    }
    const counts = () => handlers.map(({ received }) => received.length);
    await expect.poll(() => counts().reduce((a, b) => a + b)).toBe(64);
    expect(Math.min(...counts())).toBeGreaterThan(0);
  });

  it('counts ECONNREFUSED and goes on', async () => {
    const errors: Error[] = [];
    const gone = await open(options);
    const { port } = gone.local;
    await gone.close();
    const { received, onBatch } = collector();
    const client = await open({
      backend,
      connect: { address, port },
      onBatch,
      onError: (error) => errors.push(error),
    });
    client.queue(Buffer.from('to nobody'));
    await expect.poll(() => client.counters.refused).toBeGreaterThan(0);
    await expect.poll(() => errors[0]).toMatchObject({ code: 'ECONNREFUSED' });
    await open({ ...options, port, onBatch: echo });
    await expect
      .poll(
        () => {
          client.queue(Buffer.from('to somebody'));
          return received.length;
        },
        { interval: 20 },
      )
      .toBeGreaterThan(0);
  });

  it('drops what the kernel refuses, and sends the rest', async () => {
    const { received, onBatch } = collector();
    const server = await open({ ...options, onBatch });
    const client = await open({ backend, connect: server.local, slotBytes: 65_535 });
    client.queue(Buffer.from('before'));
    client.queue(new Uint8Array(65_530)); // More than fits into an IP packet: EMSGSIZE.
    client.queue(Buffer.from('after'));
    await expect.poll(() => text(received)).toEqual(['before', 'after']);
    await expect.poll(() => client.counters.sendErrors).toBe(1);
    expect(client.counters.sent).toBe(2);
  });

  it('reports an exception of the handler and goes on', async () => {
    const errors: Error[] = [];
    let calls = 0;
    const server = await open({
      ...options,
      onBatch: (batch) => {
        echo(batch);
        if (calls++ === 0) throw new Error('first batch');
      },
      onError: (error) => errors.push(error),
    });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: server.local, onBatch });
    client.queue(Buffer.from('1'));
    await expect.poll(() => text(received)).toEqual(['1']); // The reply given before the exception is sent.
    client.queue(Buffer.from('2'));
    await expect.poll(() => text(received)).toEqual(['1', '2']);
    expect(errors.map(({ message }) => message)).toEqual(['first batch']);
  });

  it('runs promises and ticks of a handler before it waits', async () => {
    const steps: string[] = [];
    const server = await open({
      ...options,
      onBatch: () => {
        process.nextTick(() => steps.push('tick'));
        Promise.resolve().then(() => steps.push('promise'));
        setImmediate(() => steps.push('immediate'));
      },
    });
    const client = createSocket(family === 4 ? 'udp4' : 'udp6');
    client.send('x', server.local.port, address);
    await expect.poll(() => steps.length).toBe(3);
    expect(steps).toEqual(['tick', 'promise', 'immediate']);
    client.close();
  });

  it('lets nobody receive from within the handler', async () => {
    const codes: unknown[] = [];
    const server: UdpSocket = await open({
      ...options,
      onBatch: () => server.receive(),
      onError: (error) => codes.push((error as Error & { code: string }).code),
    });
    const client = await open({ backend, connect: server.local });
    client.queue(Buffer.from('x'));
    await expect.poll(() => codes).toEqual(['ERR_UDP_STATE']);
  });

  it('handles and answers on close what the kernel has received', async () => {
    const server = await openUdpSocket({ ...options, onBatch: echo });
    const { received, onBatch } = collector();
    const client = await open({ backend, connect: server.local, onBatch });
    // All of it is in the server's receive buffer before its event loop has had a turn.
    for (let i = 0; i < 100; i++) client.queue(Buffer.from([i]));
    client.flush();
    const closed = server.close();
    expect(server.close()).toBe(closed);
    await closed;
    await expect.poll(() => received.length).toBe(100);
    expect(server.counters).toMatchObject({ received: 100, sent: 100 });
    expect(server.receive()).toBe(0);
    expect(server.flush()).toBe(0);
    for (const call of [
      () => server.queue(Buffer.from('x')),
      () => server.reserve(),
      () => server.commit(0),
    ]) {
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_UDP_CLOSED' }));
    }
    await open({ ...options, port: server.local.port }); // The port is free again.
  });

  it('may be closed from within its handler, under load', async () => {
    let handled = 0;
    const closed = Promise.withResolvers<void>();
    const server: UdpSocket = await openUdpSocket({
      ...options,
      onBatch: (batch) => {
        handled += batch.count;
        echo(batch);
        server.close().then(closed.resolve, closed.reject);
      },
    });
    const client = await open({ backend, connect: server.local });
    let running = true;
    closed.promise.then(() => {
      running = false;
    });
    while (running) {
      for (let i = 0; i < 20; i++) client.queue(Buffer.from('x'));
      client.flush();
      await turn();
    }
    expect(handled).toBeGreaterThan(0);
    expect(server.counters.received).toBe(handled);
  });

  it('tells bad addresses and options from each other', async () => {
    const codeOf = (promise: Promise<unknown>) => promise.catch((error: { code: string }) => error.code);
    expect(await codeOf(open({ ...options, address: 'localhost' }))).toBe('ERR_UDP_ADDRESS');
    expect(await codeOf(open({ ...options, address: 'fe80::1%nowhere0' }))).toBe('ERR_UDP_ADDRESS');
    const other = family === 4 ? '::1' : '127.0.0.1';
    expect(await codeOf(open({ ...options, connect: { address: other, port: 53 } }))).toBe('ERR_UDP_ADDRESS');
    expect(await codeOf(open({ ...options, connect: { address, port: 0 } }))).toBe('ERR_UDP_OPTION');
    expect(await codeOf(open({ ...options, port: 65_536 }))).toBe('ERR_UDP_OPTION');
    expect(await codeOf(open({ ...options, batchSize: 0 }))).toBe('ERR_UDP_OPTION');
    expect(await codeOf(open({ ...options, slotBytes: 511 }))).toBe('ERR_UDP_OPTION');
    expect(await codeOf(open({ ...options, sendQueueLength: 1.5 }))).toBe('ERR_UDP_OPTION');
    // Documentation addresses (RFC 5737, RFC 3849) are nobody's.
    const nobodys = family === 4 ? '192.0.2.1' : '2001:db8::1';
    expect(await codeOf(open({ ...options, address: nobodys }))).toBe('EADDRNOTAVAIL');
    const socket = await open(options);
    expect(() => socket.peerOf(other, 53)).toThrow(expect.objectContaining({ code: 'ERR_UDP_ADDRESS' }));
    expect(() => socket.peerOf(address, 0)).toThrow(expect.objectContaining({ code: 'ERR_UDP_OPTION' }));
  });
});

it('drops with dgram a reply that finds the send queue full, and counts it', async () => {
  const server: UdpSocket = await open({
    backend: 'dgram',
    address: '127.0.0.1',
    sendQueueLength: 2,
    onBatch: (batch) => {
      // What is queued leaves when the handler has returned.
      const isFirst = server.counters.received === 1;
      for (const word of isFirst ? ['one', 'two'] : []) server.queue(Buffer.from(word), batch.peer(0));
      echo(batch);
    },
  });
  const { received, onBatch } = collector();
  const client = await open({ backend: 'dgram', connect: server.local, onBatch });
  client.queue(Buffer.from('dropped'));
  await expect.poll(() => text(received)).toEqual(['one', 'two']);
  client.queue(Buffer.from('three'));
  await expect.poll(() => text(received)).toEqual(['one', 'two', 'three']);
  expect(server.counters).toMatchObject({ received: 2, sent: 3, sendErrors: 1 });
});
