/**
 * Waiting in the kernel: one poll(2) for the thread's sockets and for the event loop's own descriptor.
 *
 * A datagram that a handler answers alone then costs no turn of the event loop: poll, recvmmsg, sendmmsg, and back to
 * poll. The wait ends, and the event loop runs, as soon as it has anything to do: when its descriptor is readable
 * (TCP, signals, messages), when the nearest timer is due, after a signal, and when JavaScript has left it work:
 * an immediate, a new watcher, or a handler that did not say that it is done, and so may have left promises.
 */
import { constants, layout } from './layout.ts';
import type { EventLoop, Libc, Readiness } from './libc.ts';
import { LoopWait } from './loop-wait.ts';
import type { Served, Wait } from './wait.ts';

/** More sockets than this wait in the event loop: poll(2) looks at each descriptor each time, for some 30 ns. */
const MAX_SOCKETS = 32;

/**
 * Datagrams of one socket between two looks at the event loop and the other sockets: what a server answers in less
 * than half a millisecond. A look costs 0.3 µs, or 2 ns for each of them.
 */
const DATAGRAMS_PER_LOOK = 128;

/** The longest timer of Node.js, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Member {
  readonly fd: number;
  readonly serve: Served;
  readonly busyPollMs: number;
}

/** The sockets of a thread that wait together. */
class Group {
  readonly #libc: Libc;
  readonly #loop: EventLoop;
  /** Of each entry of `#entries`; the first is the event loop's. */
  readonly #members: (Member | undefined)[] = [undefined];
  /** struct pollfd[]. A negative descriptor is ignored. */
  readonly #entries: DataView;
  readonly #address: number;
  #busyPollMs = 0;
  #size = 0;
  /** Without a handle of its own, the loop would say that it has nothing to wait for. */
  #keepAlive: NodeJS.Timeout | undefined;
  /** Begins the next wait. */
  #next: NodeJS.Immediate | undefined;
  #isInTurn = false;

  constructor(libc: Libc, loop: EventLoop) {
    const buffer = new ArrayBuffer(128 + (MAX_SOCKETS + 1) * layout.pollfd.size);
    this.#libc = libc;
    this.#loop = loop;
    this.#entries = new DataView(buffer);
    this.#address = libc.addressOf(buffer);
    this.#setEntry(0, loop.fd, constants.POLLIN);
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
    let slot = 1;
    while (this.#members[slot] !== undefined) slot++;
    this.#members[slot] = member;
    this.#size++;
    this.want(slot, wanted);
    this.#busyPollMs = Math.max(this.#busyPollMs, member.busyPollMs);
    this.#keepAlive ??= setInterval(() => undefined, LONGEST_TIMER_MS);
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
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
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
    for (;;) {
      const timeout = loop.timeout();
      const ready = this.#poll(timeout);
      loop.updateTime(); // Before handlers set timers.
      if (ready <= 0) return; // A timer is due, or there was a signal.
      const isDone = this.#serveReady();
      if (!isDone || timeout === 0 || this.#isReady(0) || this.#size === 0) return;
    }
  }

  /** Waits for at most `timeout` ms; -1: without end. */
  #poll(timeout: number): number {
    const libc = this.#libc;
    const count = this.#members.length;
    if (this.#busyPollMs === 0 || timeout === 0) return libc.poll(this.#address, count, timeout);
    const spinMs = timeout < 0 ? this.#busyPollMs : Math.min(timeout, this.#busyPollMs);
    const until = performance.now() + spinMs;
    do {
      const ready = libc.poll(this.#address, count, 0);
      if (ready !== 0) return ready;
    } while (performance.now() < until);
    return spinMs === timeout ? 0 : libc.poll(this.#address, count, timeout);
  }

  /** Whether nothing is left to the event loop. */
  #serveReady(): boolean {
    let isDone = true;
    for (let slot = 1; slot < this.#members.length; slot++) {
      const member = this.#members[slot];
      if (member === undefined || !this.#isReady(slot)) continue;
      if (!member.serve(DATAGRAMS_PER_LOOK)) isDone = false;
    }
    return isDone;
  }
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
