/**
 * An array of messages for recvmmsg(2) and sendmmsg(2) in one zeroed block of memory: headers, vectors,
 * addresses, control messages and, last, the slots that hold the datagrams.
 *
 * Each header always points to the same memory. Nothing that the kernel writes (lengths, flags, addresses,
 * datagrams) is ever used as a pointer or as a length for writing, so nothing from the network reaches beyond its
 * slot.
 */
import { markAsUntransferable } from 'node:worker_threads';
import { UdpError } from '../errors.ts';
import { constants, layout, timestampCmsgLength } from './layout.ts';
import type { Libc } from './libc.ts';
import { sockaddrSlotBytes } from './sockaddr.ts';
import { sourceMessages, writeSourceMessage } from './source-address.ts';

const cacheLine = 64;

/**
 * The distance between slots: an odd number of cache lines. Slots a power of two apart would all start in the same
 * few cache sets, and 64 of them would evict each other from the first-level cache.
 */
export function slotStride(slotBytes: number): number {
  const lines = Math.ceil(slotBytes / cacheLine);
  return (lines % 2 === 0 ? lines + 1 : lines) * cacheLine;
}

/** Word offsets inside a header, a vector and a control message. */
export const words = {
  perHeader: layout.mmsghdr.size / 4,
  nameLength: layout.mmsghdr.msg_namelen / 4,
  controlLength: layout.mmsghdr.msg_controllen / 4,
  flags: layout.mmsghdr.msg_flags / 4,
  length: layout.mmsghdr.msg_len / 4,
  perVector: layout.iovec.size / 4,
  vectorLength: layout.iovec.iov_len / 4,
  perName: sockaddrSlotBytes / 4,
} as const;

export type Messages = ReturnType<typeof layMessages>;

export interface MessagesOptions {
  readonly count: number;
  readonly slotBytes: number;
  /** msg_namelen of every header. */
  readonly nameLength: number;
  /** Whether to make a second array of headers. */
  readonly replies: boolean;
  /** Space for what the kernel adds to each message that it receives, bytes; 0: it adds nothing. */
  readonly controlBytes: number;
  /** Headers that send say from which address of this family: those of replies, or all of them. Default: the kernel chooses. */
  readonly sourceFamily?: 4 | 6 | undefined;
}

export function layMessages(libc: Libc, options: MessagesOptions) {
  const { count, slotBytes, nameLength, controlBytes, sourceFamily } = options;
  const sourceBytes = sourceFamily === undefined ? 0 : sourceMessages[sourceFamily].space;
  const stride = slotStride(slotBytes);
  let size = 0;
  const place = (bytes: number) => {
    const at = size;
    size += Math.ceil(bytes / cacheLine) * cacheLine;
    return at;
  };
  const headersAt = place(count * layout.mmsghdr.size);
  const vectorsAt = place(count * layout.iovec.size);
  const replyHeadersAt = place(options.replies ? count * layout.mmsghdr.size : 0);
  const replyVectorsAt = place(options.replies ? count * layout.iovec.size : 0);
  const namesAt = place(count * sockaddrSlotBytes);
  const controlAt = place(count * controlBytes);
  const sourcesAt = place(count * sourceBytes);
  const slotsAt = place(count * stride);

  const buffer = new ArrayBuffer(size); // Zeroed: the headers rely on it.
  // Transferred memory may be freed while the kernel still writes to it. With this, Node.js 24 refuses to transfer
  // it; Node.js 22 still allows `buffer.transfer()`, which assertAttached detects.
  markAsUntransferable(buffer);
  const base = libc.addressOf(buffer);
  const memory = new Uint32Array(buffer);
  const pointer = (at: number, target: number) => {
    memory[at / 4] = target % 2 ** 32;
    memory[at / 4 + 1] = Math.floor(target / 2 ** 32);
  };
  const pointHeader = (headers: number, vectors: number, k: number, i: number) => {
    pointer(
      headers + k * layout.mmsghdr.size + layout.mmsghdr.msg_name,
      base + namesAt + i * sockaddrSlotBytes,
    );
    pointer(vectors + k * layout.iovec.size + layout.iovec.iov_base, base + slotsAt + i * stride);
  };
  const pointSource = (headers: number, k: number, i: number) => {
    if (sourceBytes === 0) return;
    const at = headers + k * layout.mmsghdr.size;
    pointer(at + layout.mmsghdr.msg_control, base + sourcesAt + i * sourceBytes);
    memory[(at + layout.mmsghdr.msg_controllen) / 4] = sourceBytes;
  };
  const layHeader = (headers: number, vectors: number, i: number) => {
    const header = headers + i * layout.mmsghdr.size;
    pointHeader(headers, vectors, i, i);
    memory[(header + layout.mmsghdr.msg_namelen) / 4] = nameLength;
    pointer(header + layout.mmsghdr.msg_iov, base + vectors + i * layout.iovec.size);
    memory[(header + layout.mmsghdr.msg_iovlen) / 4] = 1;
    memory[(vectors + i * layout.iovec.size + layout.iovec.iov_len) / 4] = slotBytes;
  };
  for (let i = 0; i < count; i++) {
    layHeader(headersAt, vectorsAt, i);
    if (options.replies) layHeader(replyHeadersAt, replyVectorsAt, i);
    pointSource(options.replies ? replyHeadersAt : headersAt, i, i);
    if (sourceFamily !== undefined)
      writeSourceMessage(memory, (sourcesAt + i * sourceBytes) / 4, sourceFamily);
    if (controlBytes === 0) continue;
    const header = headersAt + i * layout.mmsghdr.size;
    pointer(header + layout.mmsghdr.msg_control, base + controlAt + i * controlBytes);
    memory[(header + layout.mmsghdr.msg_controllen) / 4] = controlBytes;
  }

  /** An array of struct mmsghdr: its address for the kernel, and its position in `words`. */
  const headerArray = (headers: number, vectors: number) => ({
    address: base + headers,
    /** Index in `words` of header 0; headers are 16 words apart. */
    word: headers / 4,
    /** Index in `words` of vector 0; vectors are 4 words apart. */
    vectorWord: vectors / 4,
  });
  return {
    count,
    slotBytes,
    /** The whole memory. */
    words: memory,
    halves: new Uint16Array(buffer),
    bytes: new Uint8Array(buffer),
    /** Only the slots: what users of the package see. */
    slots: new Uint8Array(buffer, slotsAt, count * stride),
    /** Where slot `i` starts in `slots`. */
    offsets: Uint32Array.from({ length: count }, (_, i) => i * stride),
    /** One header, vector, address and control message per slot, in order. */
    headers: headerArray(headersAt, vectorsAt),
    /** A second array of headers and vectors for the same slots and addresses, for sending. */
    replyHeaders: headerArray(replyHeadersAt, replyVectorsAt),
    /** Index in `words` of address 0. */
    nameWord: namesAt / 4,
    /** Index in `words` of the control messages that come with message 0, and how many words there are for each message. */
    controlWord: controlAt / 4,
    perControl: controlBytes / 4,
    /** The same of the control message that says from which address message 0 is sent. */
    sourceWord: sourcesAt / 4,
    perSource: sourceBytes / 4,
    /** Points reply header `k` to slot, address and source `i`. */
    pointReply: (k: number, i: number): void => {
      pointHeader(replyHeadersAt, replyVectorsAt, k, i);
      pointSource(replyHeadersAt, k, i);
    },
    /** @throws UdpError ERR_UDP_STATE if the memory has been detached, and so freed. */
    assertAttached: (): void => {
      if (memory.length > 0) return;
      const problem = 'the buffer of a socket was transferred: it must stay with the socket';
      throw new UdpError('ERR_UDP_STATE', problem);
    },
  };
}

/** Nanoseconds between the receive timestamp of message `i` and `now`, both CLOCK_REALTIME; NaN without one. */
export function messageAge(
  messages: Messages,
  i: number,
  nowSeconds: number,
  nowNanoseconds: number,
): number {
  const { words: memory } = messages;
  const header = messages.headers.word + i * words.perHeader;
  if ((memory[header + words.controlLength] ?? 0) < timestampCmsgLength) return Number.NaN;
  const control = messages.controlWord + i * messages.perControl;
  const level = memory[control + layout.cmsghdr.cmsg_level / 4];
  const type = memory[control + layout.cmsghdr.cmsg_type / 4];
  if (level !== constants.SOL_SOCKET || type !== constants.SCM_TIMESTAMPNS) return Number.NaN;
  const stamp = control + layout.cmsghdr.size / 4;
  const seconds = (memory[stamp] ?? 0) + (memory[stamp + 1] ?? 0) * 2 ** 32;
  return (nowSeconds - seconds) * 1e9 + (nowNanoseconds - (memory[stamp + 2] ?? 0));
}
