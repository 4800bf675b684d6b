/** Waiting in the kernel: what handlers leave to the event loop, who waits there, and who does not. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Batch, UdpSocketOptions } from '../src/index.ts';
import { loadLibc } from '../src/native/koffi.ts';
import type { Libc } from '../src/native/libc.ts';
import { NativeUdpSocket } from '../src/native/socket.ts';
import { settle } from '../src/options.ts';
import { echo, keep, open } from './support/sockets.ts';

const address = '127.0.0.1';
const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

const options = (given: Partial<UdpSocketOptions>) => settle({ address, onBatch: echo, ...given });

/** Sends one datagram to a server and does nothing else that would run its event loop. */
async function sendTo(port: number): Promise<void> {
  const client = await open({ connect: { address, port }, waitIn: 'event-loop' });
  client.queue(Uint8Array.of(1));
  client.flush();
}

/** The real libc, with its calls of poll(2) noted. */
async function watchedLibc(): Promise<{ libc: Libc; timeouts: number[] }> {
  const real = await loadLibc();
  const timeouts: number[] = [];
  const poll: Libc['poll'] = (entries, count, milliseconds) => {
    timeouts.push(milliseconds);
    return real.poll(entries, count, milliseconds);
  };
  return { libc: { ...real, poll }, timeouts };
}

const BUFFER_BYTES = 1024 * 1024;
/** Datagrams that fit into it, for the kernel 768 bytes each. */
const BURST = 1280;
/** As in `kernel-wait.ts`. */
const DATAGRAMS_PER_LOOK = 128;

const maxBufferBytes = () =>
  native ? Number(readFileSync('/proc/sys/net/core/rmem_max', 'utf8')) : BUFFER_BYTES;

/** How often the event loop is asked for its nearest timer while a burst is read by a handler that returns `result`. */
async function asksWhile(result: 'nothing' | 'known'): Promise<number> {
  const libc = await loadLibc();
  const { eventLoop } = libc;
  if (eventLoop === undefined) throw new Error('this runtime does not show its event loop');
  let asks = 0;
  const timeout = () => {
    asks++;
    return eventLoop.timeout();
  };
  const all = Promise.withResolvers<void>();
  let received = 0;
  const onBatch = ({ count }: Batch) => {
    if (received === 0) asks = 0;
    received += count;
    if (received === BURST) setImmediate(all.resolve);
    return received === BURST ? undefined : result;
  };
  const watched = { ...libc, eventLoop: { ...eventLoop, timeout } };
  const server = keep(new NativeUdpSocket(watched, options({ onBatch, receiveBufferBytes: BUFFER_BYTES })));
  const client = await open({ connect: server.local, sendQueueLength: BURST, waitIn: 'event-loop' });
  for (let i = 0; i < BURST; i++) client.queue(Uint8Array.of(1));
  client.flush();
  await all.promise;
  await server.close();
  return asks;
}

describe.runIf(native)('what a handler leaves', () => {
  it.each([
    ['a promise', false, (done: () => void): unknown => Promise.resolve().then(done)],
    ['process.nextTick', false, (done: () => void) => process.nextTick(done)],
    ['an unreferenced immediate', false, (done: () => void): unknown => setImmediate(done).unref()],
    ['an immediate', true, (done: () => void): unknown => setImmediate(done)],
    ['a timer', true, (done: () => void): unknown => setTimeout(done, 5)],
    ['a file to read', true, (done: () => void): unknown => readFile('/dev/null').then(done)],
  ] as const)('runs: %s (the handler returns %s)', async (_, result, leave) => {
    const done = Promise.withResolvers<void>();
    const server = await open({
      address,
      onBatch: () => {
        leave(done.resolve);
        return result;
      },
    });
    expect(server.waitsIn).toBe('kernel');
    await sendTo(server.local.port);
    await done.promise;
  });

  it('does not shorten timers, however long the socket has waited', async () => {
    const fired = Promise.withResolvers<number>();
    const server = await open({
      address,
      onBatch: () => {
        const start = performance.now();
        setTimeout(() => fired.resolve(performance.now() - start), 30);
        return 'known';
      },
    });
    const client = await open({ connect: { address, port: server.local.port } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    client.queue(Uint8Array.of(1));
    client.flush();
    expect(await fired.promise).toBeGreaterThanOrEqual(29);
  });

  it.skipIf(maxBufferBytes() < BUFFER_BYTES)(
    'is asked of the event loop after each look, unless the handler says that it has started nothing',
    async () => {
      // After the last look, the event loop runs.
      const looks = BURST / DATAGRAMS_PER_LOOK - 1;
      expect(await asksWhile('known')).toBeGreaterThanOrEqual(looks);
      // While V8 compiles, its threads wake the event loop: for milliseconds, it may then have something to do after each look.
      await vi.waitFor(async () => expect(await asksWhile('nothing')).toBeLessThan(looks), 5000);
    },
  );

  it('costs no wait a timeout, and sets a timer only when there is another', async () => {
    const { libc, timeouts } = await watchedLibc();
    let settings = 0;
    const timerfd_settime: Libc['timerfd_settime'] = (...given) => {
      settings++;
      return libc.timerfd_settime(...given);
    };
    const all = Promise.withResolvers<void>();
    let received = 0;
    const onBatch = (batch: Batch) => {
      received += batch.count;
      if (received === 200) setImmediate(all.resolve);
      return received === 200 ? undefined : ('nothing' as const);
    };
    const server = keep(new NativeUdpSocket({ ...libc, timerfd_settime }, options({ onBatch })));
    const flood = new Worker(new URL('support/one-by-one.ts', import.meta.url), {
      workerData: { port: server.local.port, datagrams: 200 },
    });
    onTestFinished(async () => void (await flood.terminate()));
    await all.promise;
    expect(received).toBe(200);
    expect(timeouts.filter((timeout) => timeout > 0)).toEqual([]);
    // One for each datagram, but for those that come together on a busy machine.
    expect(timeouts.length).toBeGreaterThan(20);
    // What V8 sets now and then: for each wait, they would be as many.
    expect(settings).toBeLessThan(timeouts.length / 2);
  });

  it('reports what it throws', async () => {
    const failed = Promise.withResolvers<Error>();
    const server = await open({
      address,
      onBatch: () => {
        throw new Error('a bug');
      },
      onError: failed.resolve,
    });
    await sendTo(server.local.port);
    expect((await failed.promise).message).toBe('a bug');
  });
});

describe.runIf(native)('who waits in the kernel', () => {
  it('thirty-two sockets of a thread; the others wait in the event loop, and all answer', async () => {
    const servers = await Promise.all(
      Array.from({ length: 40 }, () => open({ address, onBatch: echo, waitIn: 'kernel' })),
    );
    const waiting = () => servers.filter(({ waitsIn }) => waitsIn === 'kernel').length;
    expect(waiting()).toBe(32);
    let answers = 0;
    const clients = await Promise.all(
      servers.map(({ local: { port } }) => {
        const onBatch = (batch: Batch) => {
          answers += batch.count;
        };
        return open({ connect: { address, port }, onBatch });
      }),
    );
    for (let round = 1; round <= 10; round++) {
      for (const client of clients) client.queue(Uint8Array.of(round));
      await expect.poll(() => answers, { interval: 1 }).toBe(40 * round);
    }
    await servers[0]?.close();
    await servers[1]?.close();
    expect((await open({ address })).waitsIn).toBe('kernel');
  });

  it('nobody where the runtime does not show its event loop', async () => {
    const libc: Libc = { ...(await loadLibc()), eventLoop: undefined };
    const server = keep(new NativeUdpSocket(libc, options({})));
    expect(server.waitsIn).toBe('event-loop');
  });

  it('nobody if another copy of this package does', async () => {
    const holder = Symbol.for('@dinodns-bench/batched-udp: waits in the kernel');
    Reflect.set(process, holder, {});
    onTestFinished(() => {
      Reflect.deleteProperty(process, holder);
    });
    expect((await open({ address })).waitsIn).toBe('event-loop');
  });

  it('whom the user lets: the environment decides before the option', async () => {
    expect((await open({ address, waitIn: 'event-loop' })).waitsIn).toBe('event-loop');
    process.env.DINODNS_UDP_WAIT = 'event-loop';
    onTestFinished(() => {
      delete process.env.DINODNS_UDP_WAIT;
    });
    expect((await open({ address, waitIn: 'kernel' })).waitsIn).toBe('event-loop');
    process.env.DINODNS_UDP_WAIT = 'bed';
    await expect(open({ address })).rejects.toThrow(
      'DINODNS_UDP_WAIT is "bed": it must be kernel or event-loop',
    );
  });

  it('a socket that its own handler closes, and one that is opened afterwards', async () => {
    for (let i = 0; i < 5; i++) {
      const closed = Promise.withResolvers<void>();
      const server = await open({
        address,
        onBatch: () => {
          closed.resolve(server.close());
          return 'known';
        },
      });
      await sendTo(server.local.port);
      await closed.promise;
    }
  });
});
