/** Datagrams waiting to be sent: a ring of messages in native memory, sent in order. */
import { UdpError } from '../errors.ts';
import type { Peer } from '../socket.ts';
import { layout } from './layout.ts';
import type { Libc } from './libc.ts';
import { layMessages, type Messages, words } from './message-memory.ts';
import { Segments } from './segments.ts';
import { sockaddrLength } from './sockaddr.ts';
import type { Tally, Transmit } from './transmit.ts';

/** What sending runs needs from the socket. */
export interface Segmentation {
  readonly fd: number;
  /** Maximum messages per system call. */
  readonly perCall: number;
  readonly tally: Tally;
  readonly onRefused: (error: UdpError) => void;
}

export interface SendQueueOptions {
  readonly family: 4 | 6;
  readonly connected: boolean;
  readonly slotBytes: number;
  /** Maximum datagrams that a user may queue. */
  readonly length: number;
  /** How to send runs of datagrams of equal length as one message; absent: one by one. */
  readonly segmentation?: Segmentation | undefined;
  /** Whether datagrams may say from which address they leave. */
  readonly keepsAddress?: boolean;
  /** Additional space for the replies of one batch that the kernel did not accept. */
  readonly spare: number;
}

export class SendQueue {
  pending = 0;
  readonly capacity: number;
  readonly #libc: Libc;
  readonly #options: SendQueueOptions;
  #messages: Messages | undefined;
  #segments: Segments | undefined;
  /** Undefined once the kernel has refused. */
  #segmentation: Segmentation | undefined;
  /** The next message to send. */
  #head = 0;
  #reserved = -1;

  constructor(libc: Libc, options: SendQueueOptions) {
    this.#libc = libc;
    this.#options = options;
    this.#segmentation = options.segmentation;
    this.capacity = options.length + options.spare;
  }

  /** Allocated on first use: a server that only replies in place needs none. */
  get messages(): Messages {
    const { family, slotBytes, keepsAddress = false } = this.#options;
    this.#messages ??= layMessages(this.#libc, {
      count: this.capacity,
      slotBytes,
      nameLength: sockaddrLength(family),
      replies: false,
      controlBytes: 0,
      sourceFamily: keepsAddress ? family : undefined,
    });
    return this.#messages;
  }

  /** Whether one more of the user's datagrams fits. */
  get full(): boolean {
    return this.pending >= this.#options.length;
  }

  /** Offset of the next free slot in `messages.slots`, or -1. */
  reserve(): number {
    if (this.full) return -1;
    const slot = (this.#head + this.pending) % this.capacity;
    this.#reserved = slot;
    return this.messages.offsets[slot] as number;
  }

  commit(length: number, peer: Peer | undefined): void {
    if (this.#reserved < 0) throw new UdpError('ERR_UDP_STATE', 'commit without reserve');
    const { slotBytes, connected, family } = this.#options;
    if (!(length >= 0 && length <= slotBytes) || !Number.isInteger(length)) {
      throw new RangeError(`datagram of ${length} bytes: a slot holds 0 to ${slotBytes}`);
    }
    const sockaddr = peer?.sockaddr; // Destructuring `peer ?? {}` would allocate an object per datagram.
    if (sockaddr === undefined) {
      if (!connected)
        throw new UdpError('ERR_UDP_STATE', 'no peer: the socket is not connected, so pass one');
    } else if (sockaddr.length !== sockaddrLength(family)) {
      throw new UdpError(
        'ERR_UDP_ADDRESS',
        `the peer does not belong to this IPv${family} socket; use peerOf`,
      );
    }
    this.#append(length, sockaddr, peer?.source);
  }

  /** Queues a copy, in the space reserved for the package itself if need be; false if there is no room. */
  copy(datagram: Uint8Array, sockaddr: Uint8Array | undefined, source: Uint8Array | undefined): boolean {
    if (this.pending >= this.capacity) return false;
    const slot = (this.#head + this.pending) % this.capacity;
    const { slots, offsets } = this.messages;
    slots.set(datagram, offsets[slot] as number);
    this.#append(datagram.length, sockaddr, source);
    return true;
  }

  #append(length: number, sockaddr: Uint8Array | undefined, source: Uint8Array | undefined): void {
    const messages = this.messages;
    const { words: memory, headers, perSource } = messages;
    const slot = (this.#head + this.pending) % this.capacity;
    memory[headers.vectorWord + slot * words.perVector + words.vectorLength] = length;
    memory[headers.word + slot * words.perHeader + words.nameLength] = sockaddr?.length ?? 0;
    if (sockaddr !== undefined) messages.bytes.set(sockaddr, 4 * (messages.nameWord + slot * words.perName));
    if (perSource > 0) {
      const isGiven = source?.length === 4 * perSource;
      memory[headers.word + slot * words.perHeader + words.controlLength] = isGiven ? 4 * perSource : 0;
      if (isGiven) messages.bytes.set(source, 4 * (messages.sourceWord + slot * perSource));
    }
    this.#reserved = -1;
    this.pending++;
  }

  /** Sends as many as the kernel accepts as runs. Once it refuses one, all later datagrams are sent one by one. */
  #flushRuns(count: number): number {
    if (this.#segmentation === undefined) return 0;
    const { fd, perCall, tally, onRefused } = this.#segmentation;
    this.#segments ??= new Segments(this.#libc, this.messages);
    const { sent, refused } = this.#segments.transmit(fd, this.#head, count, perCall, tally, onRefused);
    if (refused) this.#segmentation = undefined;
    return sent;
  }

  /** Sends the queue as far as the kernel accepts it; returns the number of datagrams that left the queue. */
  flush(transmit: Transmit): number {
    let total = 0;
    this.#reserved = -1;
    while (this.pending > 0) {
      const wasSegmented = this.#segmentation !== undefined;
      const { headers } = this.messages;
      this.messages.assertAttached();
      const run = Math.min(this.pending, this.capacity - this.#head);
      const done =
        this.#segmentation !== undefined && run > 1
          ? this.#flushRuns(run)
          : transmit(headers.address + this.#head * layout.mmsghdr.size, run);
      total += done;
      this.pending -= done;
      this.#head = (this.#head + done) % this.capacity;
      if (done < run && (this.#segmentation !== undefined || !wasSegmented)) return total;
    }
    this.#head = 0; // The slots used last are the ones in the cache.
    return total;
  }
}
