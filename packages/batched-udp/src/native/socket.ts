/** A socket that uses recvmmsg(2) and sendmmsg(2). */
import { setTimeout as delay } from 'node:timers/promises';
import { UdpError } from '../errors.ts';
import { peerTarget, type Settings } from '../options.ts';
import type { Endpoint, Peer, UdpSocket, UdpSocketCounters, Waiting } from '../socket.ts';
import { type Descriptor, openDescriptor } from './descriptor.ts';
import { waitInKernel } from './kernel-wait.ts';
import type { Libc } from './libc.ts';
import { makeRead, type Read } from './read.ts';
import { ReceiveArena } from './receive-arena.ts';
import { SendQueue } from './send-queue.ts';
import { encodeSockaddr, peerOfSockaddr } from './sockaddr.ts';
import { emptyTally, makeTransmit, type Tally, type Transmit } from './transmit.ts';
import { LEFT, type Left, LoopWait, type Wait } from './wait.ts';

/**
 * A batch at least this long is followed by another read: more has probably arrived meanwhile, and a read that finds
 * nothing (0.4 µs) costs a tenth of a turn of the event loop. A lone datagram indicates light load.
 */
const readOnFrom = 2;

/** Maximum sleep to gather datagrams, in microseconds: timers and other sockets wait for it. */
const sleepPerTurn = 2000;

/** How long `close` waits for the kernel to accept what is queued. */
const drainPatienceMs = 1000;

/** Kernel memory of the smallest datagram, on the low side (struct sk_buff and skb_shared_info are 576 bytes). */
const smallestDatagramBytes = 512;

/** What a handler that has returned `result` may have left to the event loop. */
function leftBy(result: unknown): Left {
  if (result === 'nothing') return LEFT.nothing;
  return result === 'known' ? LEFT.known : LEFT.unknown;
}

export class NativeUdpSocket implements UdpSocket {
  readonly backend = 'native';
  readonly reason = null;
  readonly waitsIn: Waiting;
  readonly local: Endpoint;
  readonly remote: Endpoint | null;
  readonly receiveBufferBytes: number;
  readonly sendBufferBytes: number;
  readonly slotBytes: number;
  readonly counters: UdpSocketCounters;

  readonly #libc: Libc;
  readonly #settings: Settings;
  readonly #descriptor: Descriptor;
  readonly #tally: Tally;
  readonly #arena: ReceiveArena;
  readonly #read: Read;
  readonly #queue: SendQueue;
  readonly #transmit: Transmit;
  readonly #wait: Wait;
  readonly #sleepsPerTurn: number;
  #open = true;
  #handling = false;
  /** What has been left to the event loop since this was set. */
  #left: Left = LEFT.nothing;
  #flushScheduled = false;
  #wasFull = false;
  #awaitsWritable = false;
  #closing: Promise<void> | undefined;
  #finalDrops: number | null = null;

  constructor(libc: Libc, settings: Settings) {
    const { family, remote, batchSize, slotBytes } = settings;
    const connected = remote !== null;
    const descriptor = openDescriptor(libc, settings);
    this.#libc = libc;
    this.#settings = settings;
    this.#descriptor = descriptor;
    const { gatherMicroseconds } = settings;
    this.#sleepsPerTurn = gatherMicroseconds === 0 ? 0 : Math.ceil(sleepPerTurn / gatherMicroseconds);
    this.local = descriptor.local;
    this.remote = remote && { address: remote.text, family, port: remote.port };
    this.receiveBufferBytes = descriptor.receiveBufferBytes;
    this.sendBufferBytes = descriptor.sendBufferBytes;
    this.slotBytes = slotBytes;
    this.#tally = emptyTally();
    this.counters = this.#makeCounters();
    try {
      this.#arena = new ReceiveArena(libc, { ...settings, connected });
      const report = (error: UdpError, refused: boolean) => this.#report(error, refused);
      this.#read = makeRead(libc, descriptor.fd, batchSize, this.#arena, this.#tally, report);
      this.#queue = new SendQueue(libc, {
        family,
        connected,
        slotBytes,
        keepsAddress: settings.keepsAddress,
        length: settings.sendQueueLength,
        segmentation:
          settings.segmentation && connected
            ? {
                fd: descriptor.fd,
                perCall: batchSize,
                tally: this.#tally,
                onRefused: (error) => this.#report(error, true),
              }
            : undefined,
        spare: batchSize,
      });
      this.#transmit = makeTransmit(libc, descriptor.fd, batchSize, this.#tally, (error) =>
        this.#report(error, true),
      );
      this.#wait = this.#startWaiting();
      this.waitsIn = this.#wait.place;
    } catch (error) {
      descriptor.close();
      throw error;
    }
  }

  #makeCounters(): UdpSocketCounters {
    const drops = () => (this.#open ? this.#descriptor.drops() : this.#finalDrops);
    return Object.defineProperty(this.#tally, 'kernelDrops', { enumerable: true, get: drops }) as Tally & {
      kernelDrops: number | null;
    };
  }

  #startWaiting(): Wait {
    const { waitIn, busyPollMicroseconds } = this.#settings;
    const { fd } = this.#descriptor;
    const wanted = { readable: true, writable: false };
    const inKernel =
      waitIn === 'kernel'
        ? waitInKernel(
            this.#libc,
            { fd, serve: this.#serve, busyPollMs: busyPollMicroseconds / 1000 },
            wanted,
          )
        : undefined;
    return inKernel ?? new LoopWait(this.#libc, fd, wanted, this.#serve);
  }

  readonly #serve = (maxDatagrams: number): Left => {
    if (!this.#open || this.#closing !== undefined) return LEFT.nothing;
    this.#left = LEFT.nothing;
    this.flush();
    this.#receive(Number.POSITIVE_INFINITY, maxDatagrams, this.#sleepsPerTurn);
    return this.#left;
  };

  /**
   * Whether there is room for the replies of a whole batch if the kernel accepts none of them. Not a getter: V8 calls a
   * private one through its runtime, for 0.2 µs.
   */
  #hasRoomForReplies(): boolean {
    return this.#queue.capacity - this.#queue.pending >= this.#settings.batchSize;
  }

  receive(maxBatches = Number.POSITIVE_INFINITY): number {
    return this.#receive(maxBatches, Number.POSITIVE_INFINITY, 0);
  }

  /** Reads until the socket is empty, or `maxBatches` or about `maxDatagrams` are handled. */
  #receive(maxBatches: number, maxDatagrams: number, sleeps: number): number {
    if (this.#handling) throw new UdpError('ERR_UDP_STATE', 'receive was called from within onBatch');
    if (!this.#open) return 0;
    const { batchSize, gatherMicroseconds } = this.#settings;
    let total = 0;
    let sleepsLeft = sleeps;
    for (let batches = 0; batches < maxBatches && total < maxDatagrams; batches++) {
      if (!this.#hasRoomForReplies()) break;
      const count = this.#receiveBatch();
      total += count;
      if (count < readOnFrom) break;
      // After a full batch more is waiting. After any other, more will arrive soon if given time.
      if (count === batchSize || sleeps === 0) continue;
      if (sleepsLeft === 0) break;
      sleepsLeft--;
      this.#libc.usleep(gatherMicroseconds);
    }
    return total;
  }

  /** Passes one batch from the kernel to the handler, and its replies back; returns 0 if there was none. */
  #receiveBatch(): number {
    const arena = this.#arena;
    const count = this.#read();
    if (count === 0) return 0;
    this.#tally.received += count;
    this.#tally.truncated += arena.load(count);
    this.#handling = true;
    try {
      const left = leftBy(this.#settings.onBatch(arena));
      if (left > this.#left) this.#left = left;
    } catch (error) {
      this.#report(error instanceof Error ? error : new Error(String(error)), false);
    } finally {
      this.#handling = false;
    }
    this.#sendReplies(arena.takeReplies());
    return count;
  }

  #sendReplies(count: number): void {
    if (count === 0) return;
    const arena = this.#arena;
    arena.messages.assertAttached();
    // Queued datagrams go first, to keep the order.
    if (this.#queue.pending > 0) this.flush();
    let done = this.#queue.pending > 0 ? 0 : this.#transmit(arena.repliesAddress, count);
    for (; done < count; done++) {
      const { datagram, sockaddr, source } = arena.replyAt(done);
      this.#queue.copy(datagram, this.#settings.remote === null ? sockaddr : undefined, source);
    }
    this.#awaitWritable();
  }

  get sendBytes(): Uint8Array {
    return this.#queue.messages.slots;
  }

  get pending(): number {
    return this.#queue.pending;
  }

  reserve(): number {
    this.#assertOpen();
    const offset = this.#queue.reserve();
    if (offset < 0) this.#wasFull = true;
    return offset;
  }

  commit(length: number, peer?: Peer): void {
    this.#assertOpen();
    this.#queue.commit(length, peer);
    this.#scheduleFlush();
  }

  queue(datagram: Uint8Array, peer?: Peer): boolean {
    if (datagram.length > this.slotBytes) return false;
    const offset = this.reserve();
    if (offset < 0) return false;
    this.#queue.messages.slots.set(datagram, offset);
    this.commit(datagram.length, peer);
    return true;
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled || this.#awaitsWritable) return;
    this.#flushScheduled = true;
    setImmediate(this.#scheduledFlush);
  }

  readonly #scheduledFlush = (): void => {
    this.#flushScheduled = false;
    this.flush();
  };

  flush(): number {
    if (!this.#open || this.#queue.pending === 0) return 0;
    const before = this.#tally.sent;
    this.#queue.flush(this.#transmit);
    this.#awaitWritable();
    if (this.#wasFull && !this.#queue.full) {
      this.#wasFull = false;
      const { onDrain } = this.#settings;
      if (onDrain !== undefined) this.#soon(onDrain);
    }
    return this.#tally.sent - before;
  }

  /** Waits in the event loop until the kernel has room again; stops reading if there is no room to queue replies. */
  #awaitWritable(): void {
    const writable = this.#queue.pending > 0;
    if (writable === this.#awaitsWritable && !writable) return;
    this.#awaitsWritable = writable;
    if (!this.#open || this.#closing !== undefined) return;
    this.#wait.want({ readable: this.#hasRoomForReplies(), writable });
  }

  /** Calls a function of the user after the current work. */
  #soon<A extends unknown[]>(callback: (...args: A) => void, ...args: A): void {
    this.#left = LEFT.unknown;
    process.nextTick(callback, ...args);
  }

  /** Reports the handler's exceptions and the kernel's errors, after the current work. */
  #report(error: Error, refused: boolean): void {
    const { onError } = this.#settings;
    if (onError !== undefined) {
      this.#soon(onError, error);
    } else if (!refused) {
      this.#soon(() => {
        throw error;
      });
    }
  }

  peerOf(address: string, port: number): Peer {
    return peerOfSockaddr(encodeSockaddr(peerTarget(this.#settings, address, port), port));
  }

  #assertOpen(): void {
    if (!this.#open) throw new UdpError('ERR_UDP_CLOSED', 'the socket is closed');
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#wait.stop();
      this.#closing = this.#finish();
    }
    return this.#closing;
  }

  async #finish(): Promise<void> {
    // In a new turn: `close` may have been called from within the handler.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#drain();
    this.#finalDrops = this.#descriptor.drops();
    this.#open = false;
    this.#wait.close();
    this.#descriptor.close();
  }

  /** Handles what the kernel has received, and sends what is queued, for at most a second. */
  async #drain(): Promise<void> {
    // Under load the socket is never empty; what was there at the start is bounded by the memory it used.
    let left = Math.ceil((this.#descriptor.queuedBytes() ?? this.receiveBufferBytes) / smallestDatagramBytes);
    const deadline = performance.now() + drainPatienceMs;
    for (;;) {
      this.flush();
      if (left > 0 && this.#hasRoomForReplies()) {
        const count = this.receive(1);
        left = count < this.#settings.batchSize ? 0 : Math.max(0, left - count);
      } else if ((left === 0 && this.pending === 0) || performance.now() > deadline) {
        return;
      } else {
        await delay(1);
      }
    }
  }
}
