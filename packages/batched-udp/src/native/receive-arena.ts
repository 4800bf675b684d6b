/** The memory that recvmmsg(2) writes to, presented as a `Batch`, and the replies sent from the same slots. */
import type { Settings } from '../options.ts';
import type { Batch, Peer } from '../socket.ts';
import { constants, layout, timestampCmsgLength } from './layout.ts';
import type { Libc } from './libc.ts';
import { layMessages, type Messages, messageAge, words } from './message-memory.ts';
import { peerOfSockaddr, sockaddrLength } from './sockaddr.ts';
import { copySource, sourceMessages } from './source-address.ts';

type OfSettings = Pick<Settings, 'family' | 'batchSize' | 'slotBytes' | 'timestamps'>;

export interface ReceiveArenaOptions extends OfSettings, Partial<Pick<Settings, 'keepsAddress'>> {
  readonly connected: boolean;
}

const noReply = -1;

export class ReceiveArena implements Batch {
  count = 0;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly slotBytes: number;
  readonly truncated: Uint8Array;
  readonly ports: Uint16Array;
  readonly addresses: Uint8Array;
  readonly ages: Float64Array;
  readAt = Number.NaN;

  /** Headers of the messages, for recvmmsg. */
  readonly address: number;
  /** Headers of the replies, for sendmmsg. */
  readonly repliesAddress: number;
  readonly messages: Messages;

  readonly #libc: Libc;
  readonly #family: 4 | 6;
  readonly #timestamps: boolean;
  readonly #keepsAddress: boolean;
  readonly #addressWords: Uint32Array;
  /** The length of the reply to each datagram, or `noReply`. */
  readonly #replies: Int32Array;
  /** The slot of each reply header. */
  readonly #replySlots: Uint32Array;
  readonly #clock: BigInt64Array;
  readonly #clockAddress: number;

  constructor(libc: Libc, options: ReceiveArenaOptions) {
    const { family, batchSize, slotBytes, keepsAddress = false } = options;
    const nameLength = sockaddrLength(family);
    const messages = layMessages(libc, {
      count: batchSize,
      slotBytes,
      nameLength,
      replies: true,
      controlBytes:
        (options.timestamps ? timestampCmsgLength : 0) + (keepsAddress ? sourceMessages[family].space : 0),
      sourceFamily: keepsAddress ? family : undefined,
    });
    if (options.connected) {
      // Without an address the kernel sends to the connected peer, over the route it has already looked up.
      const { word } = messages.replyHeaders;
      for (let i = 0; i < batchSize; i++) messages.words[word + i * words.perHeader + words.nameLength] = 0;
    }
    this.#libc = libc;
    this.#family = family;
    this.#timestamps = options.timestamps;
    this.#keepsAddress = keepsAddress;
    this.messages = messages;
    this.address = messages.headers.address;
    this.repliesAddress = messages.replyHeaders.address;
    this.bytes = messages.slots;
    this.offsets = messages.offsets.slice(); // A copy: users may overwrite it, and the headers must not depend on it.
    this.slotBytes = slotBytes;
    this.lengths = new Uint32Array(batchSize);
    this.truncated = new Uint8Array(batchSize);
    this.ports = new Uint16Array(batchSize);
    this.addresses = new Uint8Array(16 * batchSize);
    this.#addressWords = new Uint32Array(this.addresses.buffer);
    if (family === 4) {
      for (let i = 0; i < batchSize; i++) this.addresses.fill(0xff, 16 * i + 10, 16 * i + 12);
    }
    this.ages = new Float64Array(batchSize).fill(Number.NaN);
    this.#replies = new Int32Array(batchSize).fill(noReply);
    this.#replySlots = Uint32Array.from({ length: batchSize }, (_, i) => i);
    const clock = new ArrayBuffer(128);
    this.#clock = new BigInt64Array(clock);
    this.#clockAddress = libc.addressOf(clock);
  }

  /** Reads what the kernel has written about the first `count` messages. */
  load(count: number): number {
    const { words: memory, halves, headers, nameWord } = this.messages;
    const { lengths, truncated, ports } = this;
    const addressWords = this.#addressWords;
    const v6 = this.#family === 6;
    let cut = 0;
    let header = headers.word;
    let name = nameWord;
    for (let i = 0; i < count; i++) {
      lengths[i] = memory[header + words.length] as number;
      const over = ((memory[header + words.flags] as number) & constants.MSG_TRUNC) === 0 ? 0 : 1;
      truncated[i] = over;
      cut += over;
      const port = halves[2 * name + 1] as number;
      ports[i] = (port << 8) | (port >> 8);
      if (v6) {
        addressWords[4 * i] = memory[name + 2] as number;
        addressWords[4 * i + 1] = memory[name + 3] as number;
        addressWords[4 * i + 2] = memory[name + 4] as number;
        addressWords[4 * i + 3] = memory[name + 5] as number;
      } else {
        addressWords[4 * i + 3] = memory[name + 1] as number;
      }
      header += words.perHeader;
      name += words.perName;
    }
    if (this.#timestamps) this.#loadAges(count);
    if (this.#keepsAddress) this.#loadDestinations(count);
    if (this.#timestamps || this.#keepsAddress) this.#freeControl(count);
    this.count = count;
    return cut;
  }

  #loadAges(count: number): void {
    this.#libc.clock_gettime(constants.CLOCK_REALTIME, this.#clockAddress);
    this.readAt = performance.now();
    const seconds = Number(this.#clock[layout.timespec.tv_sec / 8]);
    const nanoseconds = Number(this.#clock[layout.timespec.tv_nsec / 8]);
    for (let i = 0; i < count; i++) {
      this.ages[i] = messageAge(this.messages, i, seconds, nanoseconds);
    }
  }

  /** Where replies come from. The kernel puts the timestamp first. */
  #loadDestinations(count: number): void {
    const { words: memory, controlWord, perControl, sourceWord, perSource } = this.messages;
    const first = controlWord + (this.#timestamps ? timestampCmsgLength / 4 : 0);
    for (let i = 0; i < count; i++) {
      copySource(memory, first + i * perControl, sourceWord + i * perSource, this.#family);
    }
  }

  /** The kernel has replaced the available length with the length it used. */
  #freeControl(count: number): void {
    const { words: memory, headers, perControl } = this.messages;
    for (let i = 0; i < count; i++) {
      memory[headers.word + i * words.perHeader + words.controlLength] = 4 * perControl;
    }
  }

  /** Points the reply headers to the answered slots, in order; returns how many. Ends the batch. */
  takeReplies(): number {
    const { words: memory, replyHeaders } = this.messages;
    const replies = this.#replies;
    const replySlots = this.#replySlots;
    const { count } = this;
    let taken = 0;
    for (let i = 0; i < count; i++) {
      const length = replies[i] as number;
      if (length === noReply) continue;
      replies[i] = noReply;
      if (replySlots[taken] !== i) {
        this.messages.pointReply(taken, i);
        replySlots[taken] = i;
      }
      memory[replyHeaders.vectorWord + taken * words.perVector + words.vectorLength] = length;
      taken++;
    }
    this.count = 0;
    return taken;
  }

  /** The datagram of reply header `k` and, unless the socket is connected, its destination and its source. */
  replyAt(k: number): { datagram: Uint8Array; sockaddr: Uint8Array; source: Uint8Array | undefined } {
    const { words: memory, replyHeaders, nameWord, slots, offsets } = this.messages;
    const i = this.#replySlots[k] as number;
    const at = offsets[i] as number;
    const length = memory[replyHeaders.vectorWord + k * words.perVector + words.vectorLength] as number;
    const datagram = slots.subarray(at, at + length);
    return { datagram, sockaddr: this.#sockaddr(nameWord, i), source: this.#source(i) };
  }

  #sockaddr(nameWord: number, i: number): Uint8Array {
    const at = 4 * (nameWord + i * words.perName);
    return this.messages.bytes.subarray(at, at + sockaddrLength(this.#family));
  }

  #source(i: number): Uint8Array | undefined {
    const { bytes, sourceWord, perSource } = this.messages;
    const at = 4 * (sourceWord + i * perSource);
    return this.#keepsAddress ? bytes.subarray(at, at + 4 * perSource) : undefined;
  }

  peer(i: number): Peer {
    this.#assertIndex(i);
    const peer = peerOfSockaddr(this.#sockaddr(this.messages.nameWord, i));
    const source = this.#source(i)?.slice();
    return source === undefined ? peer : { ...peer, source };
  }

  reply(i: number, length: number): void {
    this.#assertIndex(i);
    if (!(length >= 0 && length <= this.slotBytes) || !Number.isInteger(length)) {
      throw new RangeError(
        `reply of ${length} bytes: a reply in place has 0 to ${this.slotBytes} bytes, the size of a slot`,
      );
    }
    this.#replies[i] = length;
  }

  #assertIndex(i: number): void {
    if (i >= 0 && i < this.count && Number.isInteger(i)) return;
    throw new RangeError(
      `datagram ${i} of a batch of ${this.count}: a batch is valid only until its handler returns`,
    );
  }
}
