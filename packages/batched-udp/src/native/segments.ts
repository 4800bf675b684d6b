/**
 * Runs of datagrams of equal length, passed to the kernel as one message that it splits (UDP_SEGMENT, "UDP GSO",
 * udp(7), Linux 4.18). The datagrams on the wire are the same, but a run passes routing, netfilter and the device
 * only once: over loopback, sending a datagram of 33 bytes took 0.6 µs instead of 1.5 µs.
 * A capture on the sending machine may show the run as one large packet.
 */
import { markAsUntransferable } from 'node:worker_threads';
import { systemError, type UdpError } from '../errors.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';
import { type Messages, words } from './message-memory.ts';
import type { Tally } from './transmit.ts';

/** UDP_MAX_SEGMENTS of kernels before 6.3 (include/linux/udp.h). */
const maxSegments = 64;
/** Fits any interface's MTU (at least 1,280 for IPv6) with IPv6 and UDP headers. */
const maxSegmentBytes = 1232;
/** A run is one IP packet until it is split: less than 64 KiB with its headers, else EMSGSIZE. */
const maxRunBytes = 65_000;
/** CMSG_SPACE(sizeof (uint16_t)) and CMSG_LEN of it. */
const controlSpace = layout.cmsghdr.size + 8;
const controlLength = layout.cmsghdr.size + 2;

/** Messages over the vectors of a send queue, one per run. */
export class Segments {
  readonly #libc: Libc;
  readonly #messages: Messages;
  readonly #memory: Uint32Array;
  readonly #headersAddress: number;
  readonly #controlWord: number;
  /** Datagrams of each run. */
  readonly #runs: Uint32Array;

  constructor(libc: Libc, messages: Messages) {
    const { count } = messages;
    const buffer = new ArrayBuffer(count * (layout.mmsghdr.size + controlSpace));
    markAsUntransferable(buffer);
    this.#libc = libc;
    this.#messages = messages;
    this.#memory = new Uint32Array(buffer);
    this.#headersAddress = libc.addressOf(buffer);
    this.#controlWord = (count * layout.mmsghdr.size) / 4;
    this.#runs = new Uint32Array(count);
  }

  /**
   * Sends `count` datagrams starting at slot `head`, as far as the kernel accepts them now, at most `perCall`
   * messages per call. Returns how many it accepted; `refused`: it does not support runs here, and the caller sends
   * the rest one by one.
   */
  transmit(
    fd: number,
    head: number,
    count: number,
    perCall: number,
    tally: Tally,
    onRefused: (error: UdpError) => void,
  ): { sent: number; refused: boolean } {
    const { EAGAIN, EINTR, ECONNREFUSED, MSG_DONTWAIT } = constants;
    const runs = this.#lay(head, count);
    let [done, sent] = [0, 0];
    while (done < runs) {
      const address = this.#headersAddress + done * layout.mmsghdr.size;
      const taken = this.#libc.sendmmsg(fd, address, Math.min(runs - done, perCall), MSG_DONTWAIT);
      tally.sendCalls++;
      if (taken <= 0) {
        const errno = this.#libc.errno();
        if (errno === EAGAIN) return { sent, refused: false };
        if (errno === EINTR) continue;
        if (errno !== ECONNREFUSED) return { sent, refused: true };
        // An error from earlier datagrams; reading it has cleared it.
        tally.refused++;
        onRefused(systemError('sendmmsg', 'ECONNREFUSED', ''));
        continue;
      }
      for (const end = done + taken; done < end; done++) {
        const datagrams = this.#runs[done] ?? 0;
        sent += datagrams;
        tally.sent += datagrams;
      }
    }
    return { sent, refused: false };
  }

  /** Writes a header for each run; returns how many. Datagrams of a run have equal length; the last may be shorter. */
  #lay(head: number, count: number): number {
    const { words: memory, headers } = this.#messages;
    const lengthOf = (slot: number) =>
      memory[headers.vectorWord + slot * words.perVector + words.vectorLength] ?? 0;
    let [runs, slot] = [0, head];
    const end = head + count;
    while (slot < end) {
      const first = slot;
      const length = lengthOf(first);
      slot++;
      if (length > 0 && length <= maxSegmentBytes && !this.#hasName(first)) {
        const limit = Math.min(end, first + Math.min(maxSegments, Math.floor(maxRunBytes / length)));
        while (slot < limit && lengthOf(slot) === length && !this.#hasName(slot)) slot++;
        const isLast = slot < limit && lengthOf(slot) < length && lengthOf(slot) > 0 && !this.#hasName(slot);
        if (isLast) slot++;
      }
      this.#layHeader(runs, first, slot - first, length);
      this.#runs[runs] = slot - first;
      runs++;
    }
    return runs;
  }

  #hasName(slot: number): boolean {
    const { words: memory, headers } = this.#messages;
    return memory[headers.word + slot * words.perHeader + words.nameLength] !== 0;
  }

  #layHeader(run: number, slot: number, datagrams: number, length: number): void {
    const memory = this.#memory;
    const { words: theirs, headers } = this.#messages;
    const at = run * words.perHeader;
    const from = headers.word + slot * words.perHeader;
    // Address, its length and the vectors come from the first datagram's own header.
    for (let i = 0; i < layout.mmsghdr.msg_iovlen / 4; i++) memory[at + i] = theirs[from + i] ?? 0;
    memory[at + layout.mmsghdr.msg_iovlen / 4] = datagrams;
    const control = this.#controlWord + (run * controlSpace) / 4;
    const address = datagrams > 1 ? this.#headersAddress + 4 * control : 0;
    memory[at + layout.mmsghdr.msg_control / 4] = address % 2 ** 32;
    memory[at + layout.mmsghdr.msg_control / 4 + 1] = Math.floor(address / 2 ** 32);
    memory[at + words.controlLength] = datagrams > 1 ? controlSpace : 0;
    memory[control] = controlLength;
    memory[control + layout.cmsghdr.cmsg_level / 4] = constants.SOL_UDP;
    memory[control + layout.cmsghdr.cmsg_type / 4] = constants.UDP_SEGMENT;
    memory[control + layout.cmsghdr.size / 4] = length;
  }
}
