/**
 * Waiting in the kernel: one poll(2) for the thread's sockets and for the event loop's own descriptor.
 *
 * A datagram that a handler answers alone then costs no turn of the event loop: poll, recvmmsg, sendmmsg, and back to
 * poll. The wait ends, and the event loop runs, as soon as it has anything to do: when its descriptor is readable
 * (TCP, signals, messages), when the nearest timer is due, after a signal, and when JavaScript has left it work:
 * an immediate, a new watcher, or a handler that did not say that it is done, and so may have left promises.
 *
 * At 20,000 datagrams a second each is a wait of its own, so what a wait does counts: the event loop is asked for its nearest
 * timer only if a handler may have set one, and without any timer poll(2) starts none in the kernel.
 */
import { MessageChannel } from 'node:worker_threads';
import { constants, layout } from './layout.ts';
import type { EventLoop, Libc, Readiness } from './libc.ts';
import { LoopWait } from './loop-wait.ts';
import { LEFT, type Left, type Served, type Wait } from './wait.ts';

/** More sockets than this wait in the event loop: poll(2) looks at each descriptor each time, for some 30 ns. */
const MAX_SOCKETS = 32;

/**
 * Datagrams of one socket between two looks at the event loop and the other sockets: what a server answers in less
 * than half a millisecond. A look costs 0.3 µs, or 2 ns for each of them.
 */
const DATAGRAMS_PER_LOOK = 128;

interface Member {
  readonly fd: number;
  readonly serve: Served;
  readonly busyPollMs: number;
}

/** Keeps the event loop waiting without a timer, which would bound every wait. */
function holdLoop(): MessageChannel {
  const channel = new MessageChannel();
  channel.port1.ref();
  return channel;
}

/** The sockets of a thread that wait together. */
class Group {
  readonly #libc: Libc;
  readonly #loop: EventLoop;
  /** By slot: the index of its entry in `#entries`. */
  readonly #members: (Member | undefined)[] = [];
  /**
   * struct pollfd[], that of the event loop behind those of the members: once poll(2) has found one ready, it does not
   * queue for the others. A negative descriptor is ignored.
   */
  readonly #entries: DataView;
  readonly #address: number;
  #busyPollMs = 0;
  #size = 0;
  /** Without a handle of its own, the loop would say that it has nothing to wait for. */
  #hold: MessageChannel | undefined;
  /** Begins the next wait. */
  #next: NodeJS.Immediate | undefined;
  #isInTurn = false;

  constructor(libc: Libc, loop: EventLoop) {
    const buffer = new ArrayBuffer(128 + (MAX_SOCKETS + 1) * layout.pollfd.size);
    this.#libc = libc;
    this.#loop = loop;
    this.#entries = new DataView(buffer);
    this.#address = libc.addressOf(buffer);
    this.#placeLoop();
  }

  #placeLoop(): void {
    this.#setEntry(this.#members.length, this.#loop.fd, constants.POLLIN);
  }

  #setEntry(slot: number, fd: number, events: number): void {
    const at = slot * layout.pollfd.size;
    this.#entries.setInt32(at + layout.pollfd.fd, fd, true);
    this.#entries.setInt16(at + layout.pollfd.events, events, true);
    this.#entries.setInt16(at + layout.pollfd.revents, 0, true);
  }

  #isReady(slot: number): boolean {
    return this.#entries.getInt16(slot * layout.pollfd.size + layout.pollfd.revents, true) !== 0;
  }

  /** Returns the member's slot, or undefined if there is none free. */
  add(member: Member, wanted: Readiness): number | undefined {
    if (this.#size === MAX_SOCKETS) return undefined;
    let slot = 0;
    while (this.#members[slot] !== undefined) slot++;
    this.#members[slot] = member;
    this.#placeLoop();
    this.#size++;
    this.want(slot, wanted);
    this.#busyPollMs = Math.max(this.#busyPollMs, member.busyPollMs);
    this.#hold ??= holdLoop();
    if (!this.#isInTurn) this.#next ??= setImmediate(this.#turn);
    return slot;
  }

  want(slot: number, { readable, writable }: Readiness): void {
    const member = this.#members[slot];
    if (member === undefined) return;
    const { POLLIN, POLLOUT } = constants;
    this.#setEntry(slot, member.fd, (readable ? POLLIN : 0) | (writable ? POLLOUT : 0));
  }

  remove(slot: number): void {
    if (this.#members[slot] === undefined) return;
    this.#members[slot] = undefined;
    this.#size--;
    this.#setEntry(slot, -1, 0);
    this.#busyPollMs = Math.max(0, ...this.#members.map((member) => member?.busyPollMs ?? 0));
    if (this.#size > 0) return;
    this.#hold?.port1.close();
    this.#hold = undefined;
    releaseGroup();
    if (this.#isInTurn) return;
    clearImmediate(this.#next);
    this.#next = undefined;
  }

  readonly #turn = (): void => {
    const next = setImmediate(this.#turn);
    this.#next = next;
    // While an immediate runs, Node.js tells libuv not to wait; that ends when the last one is unreferenced.
    next.unref();
    this.#isInTurn = true;
    try {
      this.#wait();
    } finally {
      this.#isInTurn = false;
      if (this.#size > 0) {
        next.ref();
      } else {
        clearImmediate(next);
        this.#next = undefined;
      }
    }
  };

  /** Serves the sockets until the event loop has something to do. */
  #wait(): void {
    const loop = this.#loop;
    loop.updateTime();
    let timeout = loop.timeout();
    let since = timeout > 0 ? performance.now() : 0;
    for (let left = timeout; ; left = timeout > 0 ? timeLeft(timeout, since) : timeout) {
      const ready = this.#poll(left);
      if (ready <= 0) return; // A timer is due, or there was a signal.
      const work = this.#serveReady();
      const isLoopReady = this.#isReady(this.#members.length);
      if (work === LEFT.unknown || left === 0 || isLoopReady || this.#size === 0) return;
      if (work === LEFT.nothing) continue;
      loop.updateTime();
      timeout = loop.timeout();
      since = timeout > 0 ? performance.now() : 0;
    }
  }

  /** Waits for at most `timeout` ms; -1: without end. */
  #poll(timeout: number): number {
    const libc = this.#libc;
    const count = this.#members.length + 1;
    if (this.#busyPollMs === 0 || timeout === 0) return libc.poll(this.#address, count, timeout);
    const spinMs = timeout < 0 ? this.#busyPollMs : Math.min(timeout, this.#busyPollMs);
    const until = performance.now() + spinMs;
    do {
      const ready = libc.poll(this.#address, count, 0);
      if (ready !== 0) return ready;
    } while (performance.now() < until);
    return spinMs === timeout ? 0 : libc.poll(this.#address, count, timeout);
  }

  /** What the handlers have left to the event loop, all together. */
  #serveReady(): Left {
    let left: Left = LEFT.nothing;
    for (let slot = 0; slot < this.#members.length; slot++) {
      const member = this.#members[slot];
      if (member === undefined || !this.#isReady(slot)) continue;
      const its = member.serve(DATAGRAMS_PER_LOOK);
      if (its > left) left = its;
    }
    return left;
  }
}

/** Of `timeout` ms since then, whole ms, rounded up: a timer is never early. */
function timeLeft(timeout: number, since: number): number {
  return Math.max(0, Math.ceil(timeout - (performance.now() - since)));
}

/**
 * Which group waits in this thread. A second one, of another copy of this package, would not serve the first one's
 * sockets while it waits; its own wait in the event loop instead, which ends the first one's wait.
 */
const HOLDER = Symbol.for('@dinodns-bench/batched-udp: waits in the kernel');

/** This copy's group while it has sockets. Each thread has its own modules. */
let current: Group | undefined;

function claimGroup(libc: Libc, loop: EventLoop): Group | undefined {
  if (current === undefined && Reflect.has(process, HOLDER)) return undefined;
  current ??= new Group(libc, loop);
  Reflect.set(process, HOLDER, current);
  return current;
}

function releaseGroup(): void {
  current = undefined;
  Reflect.deleteProperty(process, HOLDER);
}

/** Waits in the kernel; in the event loop while unreferenced, since only that knows when it has nothing else to do. */
class KernelWait implements Wait {
  readonly #libc: Libc;
  readonly #group: Group;
  readonly #member: Member;
  #slot: number | undefined;
  #loopWait: LoopWait | undefined;
  #wanted: Readiness;
  #isStopped = false;

  constructor(libc: Libc, group: Group, member: Member, slot: number, wanted: Readiness) {
    this.#libc = libc;
    this.#group = group;
    this.#member = member;
    this.#slot = slot;
    this.#wanted = wanted;
  }

  get place(): Wait['place'] {
    return this.#slot === undefined ? 'event-loop' : 'kernel';
  }

  want(wanted: Readiness): void {
    if (this.#isStopped) return;
    this.#wanted = wanted;
    if (this.#slot === undefined) this.#loopWait?.want(wanted);
    else this.#group.want(this.#slot, wanted);
  }

  ref(): void {
    if (this.#isStopped || this.#slot !== undefined) return;
    this.#slot = this.#group.add(this.#member, this.#wanted);
    if (this.#slot === undefined) {
      this.#loopWait?.ref();
    } else {
      this.#loopWait?.close();
      this.#loopWait = undefined;
    }
  }

  unref(): void {
    if (this.#isStopped) return;
    if (this.#slot !== undefined) this.#group.remove(this.#slot);
    this.#slot = undefined;
    this.#loopWait ??= new LoopWait(this.#libc, this.#member.fd, this.#wanted, this.#member.serve);
    this.#loopWait.unref();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#slot !== undefined) this.#group.remove(this.#slot);
    this.#loopWait?.stop();
  }

  close(): void {
    this.stop();
    this.#loopWait?.close();
  }
}

export interface KernelWaitRequest extends Member {
  readonly wanted: Readiness;
}

/** Undefined if this runtime does not show its event loop, or if as many sockets as can wait here already do. */
export function waitInKernel(libc: Libc, { wanted, ...member }: KernelWaitRequest): Wait | undefined {
  const { eventLoop } = libc;
  if (eventLoop === undefined) return undefined;
  const claimed = claimGroup(libc, eventLoop);
  const slot = claimed?.add(member, wanted);
  if (claimed === undefined || slot === undefined) return undefined;
  return new KernelWait(libc, claimed, member, slot, wanted);
}
