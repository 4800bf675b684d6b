/**
 * Waiting in the kernel: one poll(2) for the thread's sockets, for the event loop's own descriptor and for its nearest timer.
 *
 * A datagram that a handler answers alone then costs no turn of the event loop: poll, recvmmsg, sendmmsg, and back to
 * poll. The wait ends, and the event loop runs, as soon as it has anything to do: when its descriptor is readable
 * (TCP, signals, messages), when the nearest timer is due, after a signal, and when JavaScript has left it work:
 * an immediate, a new watcher, or a handler that did not say that it is done, and so may have left promises.
 *
 * At 20,000 datagrams a second each is a wait of its own, so what a wait does counts: the event loop is asked for its nearest
 * timer only if a handler may have set one, and that timer is a descriptor too, since a timeout would cost each wait one.
 */
import { MessageChannel } from 'node:worker_threads';
import { constants, layout } from './layout.ts';
import type { EventLoop, Libc, Readiness } from './libc.ts';
import { TimerDescriptor } from './timer-descriptor.ts';
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

/** The sockets of a thread that wait together. It ends with its last member. */
class Group {
  readonly #libc: Libc;
  readonly #loop: EventLoop;
  /** By slot: the index of its entry in `#entries`. */
  readonly #members: (Member | undefined)[] = [];
  /**
   * struct pollfd[], those of the event loop and of its timer behind those of the members: once poll(2) has found one ready,
   * it does not queue for the others. A negative descriptor is ignored.
   */
  readonly #entries: DataView;
  readonly #address: number;
  readonly #timer: TimerDescriptor;
  #busyPollMs = 0;
  #size = 0;
  /** Without a handle of its own, the loop would say that it has nothing to wait for. */
  #hold: MessageChannel | undefined;
  /** Begins the next wait. */
  #next: NodeJS.Immediate | undefined;
  #isInTurn = false;

  /** @throws UdpError with the errno's name if there is no descriptor for the timer. */
  constructor(libc: Libc, loop: EventLoop) {
    const buffer = new ArrayBuffer(128 + (MAX_SOCKETS + 2) * layout.pollfd.size);
    this.#libc = libc;
    this.#loop = loop;
    this.#entries = new DataView(buffer);
    this.#address = libc.addressOf(buffer);
    this.#timer = new TimerDescriptor(libc);
  }

  #placeLoop(): void {
    this.#setEntry(this.#members.length, this.#loop.fd, constants.POLLIN);
    this.#setEntry(this.#members.length + 1, this.#timer.fd, constants.POLLIN);
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
    this.#timer.close();
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
    let mustRun = this.#askLoop();
    for (;;) {
      if (this.#poll(mustRun) <= 0) return; // There is nothing, and the event loop must run, or there was a signal.
      const work = this.#serveReady();
      if (work === LEFT.unknown || mustRun || this.#isLoopReady() || this.#size === 0) return;
      if (work === LEFT.known) mustRun = this.#askLoop();
    }
  }

  /** Whether the event loop must run now. If not, the wait ends when its nearest timer is due. */
  #askLoop(): boolean {
    const loop = this.#loop;
    loop.updateTime();
    const timeout = loop.timeout();
    if (timeout === 0) return true;
    this.#timer.set(timeout);
    return false;
  }

  /** Whether the event loop has an event or a timer that is due. */
  #isLoopReady(): boolean {
    return this.#isReady(this.#members.length) || this.#isReady(this.#members.length + 1);
  }

  /** Waits until a descriptor is ready; not at all if the event loop must run. */
  #poll(mustRun: boolean): number {
    const libc = this.#libc;
    const count = this.#members.length + 2;
    if (mustRun) return libc.poll(this.#address, count, 0);
    if (this.#busyPollMs > 0) {
      const until = performance.now() + this.#busyPollMs;
      do {
        const ready = libc.poll(this.#address, count, 0);
        if (ready !== 0) return ready;
      } while (performance.now() < until);
    }
    return libc.poll(this.#address, count, -1);
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

/**
 * Waits in the kernel; undefined if this runtime does not show its event loop, or if as many sockets as can wait here already do.
 * @throws UdpError with the errno's name if there is no descriptor for the timer.
 */
export function waitInKernel(libc: Libc, member: Member, wanted: Readiness): Wait | undefined {
  const group = libc.eventLoop === undefined ? undefined : claimGroup(libc, libc.eventLoop);
  let slot = group?.add(member, wanted);
  if (group === undefined || slot === undefined) return undefined;
  // Only once: the slot may have another member then.
  const leave = () => {
    if (slot !== undefined) group.remove(slot);
    slot = undefined;
  };
  return {
    place: 'kernel',
    want: (events) => {
      if (slot !== undefined) group.want(slot, events);
    },
    stop: leave,
    close: leave,
  };
}
