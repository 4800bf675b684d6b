/** The same socket over `node:dgram`, one datagram at a time, where recvmmsg and sendmmsg cannot be called. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { setImmediate as turn } from 'node:timers/promises';
import { type Address, parseAddress } from './address.ts';
import { systemError, UdpError } from './errors.ts';
import { emptyTally } from './native/transmit.ts';
import { peerTarget, type Settings } from './options.ts';
import type { Batch, Endpoint, Peer, UdpSocket, UdpSocketCounters } from './socket.ts';

/** Turns of the event loop without a datagram after which `close` considers the socket empty. */
const quietTurns = 2;

/** How long `close` keeps receiving and waits for pending sends. */
const closePatienceMs = 1000;

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';

const isError = (value: unknown): value is Error => value instanceof Error;

/** Binds and connects. @throws UdpError with the errno's name; nothing stays open then. */
async function openSocket(settings: Settings): Promise<Socket> {
  const { family, local, remote, reusePort, receiveBufferBytes, sendBufferBytes } = settings;
  const socket = createSocket({
    type: family === 4 ? 'udp4' : 'udp6',
    reusePort,
    ...(receiveBufferBytes === undefined ? {} : { recvBufferSize: receiveBufferBytes }),
    ...(sendBufferBytes === undefined ? {} : { sendBufferSize: sendBufferBytes }),
  });
  const step = (
    syscall: string,
    endpoint: { text: string; port: number },
    start: (done: () => void) => void,
  ) =>
    new Promise<void>((resolve, reject) => {
      const fail = (error: Error) =>
        reject(systemError(syscall, codeOf(error), `${endpoint.text} port ${endpoint.port}`, error));
      socket.once('error', fail);
      start(() => {
        socket.off('error', fail);
        resolve();
      });
    });
  try {
    // `exclusive`: in a cluster's worker a socket of its own, as the native one is.
    const { text: address, port } = local;
    await step('bind', local, (done) => socket.bind({ address, port, exclusive: true }, done));
    if (remote !== null)
      await step('connect', remote, (done) => socket.connect(remote.port, remote.text, done));
  } catch (error) {
    socket.close();
    throw error;
  }
  return socket;
}

/** A batch of one datagram. */
class DatagramBatch implements Batch {
  count = 0;
  readonly bytes: Uint8Array;
  readonly offsets = new Uint32Array(1);
  readonly lengths = new Uint32Array(1);
  readonly slotBytes: number;
  readonly truncated = new Uint8Array(1);
  readonly ports = new Uint16Array(1);
  readonly addresses = new Uint8Array(16);
  readonly ages = new Float64Array(1).fill(Number.NaN);
  readonly readAt = Number.NaN;
  #address = '';
  #parsed: Address | undefined;
  #reply = -1;

  constructor(slotBytes: number) {
    this.slotBytes = slotBytes;
    this.bytes = new Uint8Array(slotBytes);
  }

  load(datagram: Uint8Array, source: RemoteInfo): void {
    const length = Math.min(datagram.length, this.slotBytes);
    this.bytes.set(length < datagram.length ? datagram.subarray(0, length) : datagram);
    this.lengths[0] = length;
    this.truncated[0] = length < datagram.length ? 1 : 0;
    this.ports[0] = source.port;
    if (source.address !== this.#address || this.#parsed === undefined) {
      this.#address = source.address;
      this.#parsed = parseAddress(source.address);
      this.addresses.set(this.#parsed.bytes);
    }
    this.count = 1;
  }

  peer(i: number): Peer {
    this.#assertIndex(i);
    const { family, bytes } = this.#parsed ?? parseAddress(this.#address);
    return { address: this.#address, family, port: this.ports[0] ?? 0, sockaddr: bytes.slice() };
  }

  reply(i: number, length: number): void {
    this.#assertIndex(i);
    if (!(length >= 0 && length <= this.slotBytes) || !Number.isInteger(length)) {
      throw new RangeError(
        `reply of ${length} bytes: a reply in place has 0 to ${this.slotBytes} bytes, the size of a slot`,
      );
    }
    this.#reply = length;
  }

  /** A copy of the reply, or undefined. Ends the batch. */
  takeReply(): Uint8Array | undefined {
    const length = this.#reply;
    this.#reply = -1;
    this.count = 0;
    return length < 0 ? undefined : this.bytes.slice(0, length);
  }

  #assertIndex(i: number): void {
    if (i === 0 && this.count === 1) return;
    throw new RangeError(
      `datagram ${i} of a batch of ${this.count}: a batch is valid only until its handler returns`,
    );
  }
}

export class DgramUdpSocket implements UdpSocket {
  readonly backend = 'dgram';
  readonly waitsIn = 'event-loop';
  readonly reason: string;
  readonly local: Endpoint;
  readonly remote: Endpoint | null;
  readonly receiveBufferBytes: number;
  readonly sendBufferBytes: number;
  readonly slotBytes: number;
  readonly sendBytes: Uint8Array;

  readonly #socket: Socket;
  readonly #settings: Settings;
  readonly #batch: DatagramBatch;
  readonly #tally = { ...emptyTally(), kernelDrops: null };
  readonly counters: UdpSocketCounters = this.#tally;
  #pending = 0;
  #takenSinceFlush = 0;
  #reserved = false;
  #wasFull = false;
  #handling = false;
  #open = true;
  #closing: Promise<void> | undefined;

  static async open(settings: Settings, reason: string): Promise<DgramUdpSocket> {
    return new DgramUdpSocket(await openSocket(settings), settings, reason);
  }

  private constructor(socket: Socket, settings: Settings, reason: string) {
    const { family, remote, slotBytes } = settings;
    const { address, port } = socket.address();
    this.reason = reason;
    this.#socket = socket;
    this.#settings = settings;
    this.local = { address, family, port };
    this.remote = remote && { address: remote.text, family, port: remote.port };
    this.receiveBufferBytes = socket.getRecvBufferSize();
    this.sendBufferBytes = socket.getSendBufferSize();
    this.slotBytes = slotBytes;
    this.sendBytes = new Uint8Array(slotBytes);
    this.#batch = new DatagramBatch(slotBytes);
    socket.on('message', this.#receive);
    socket.on('error', this.#fail);
  }

  readonly #receive = (datagram: Uint8Array, source: RemoteInfo): void => {
    const batch = this.#batch;
    batch.load(datagram, source);
    this.#tally.received++;
    this.#tally.receiveCalls++;
    this.#tally.truncated += batch.truncated[0] ?? 0;
    this.#handling = true;
    try {
      this.#settings.onBatch(batch);
    } catch (error) {
      this.#report(isError(error) ? error : new Error(String(error)), false);
    } finally {
      this.#handling = false;
    }
    const reply = batch.takeReply();
    if (reply === undefined) return;
    // Unlike the native socket, this one cannot stop reading while replies wait: without a limit, they would fill the memory.
    if (this.#isFull()) this.#tally.sendErrors++;
    else this.#send(reply, this.#settings.remote === null ? source : undefined);
  };

  readonly #fail = (error: Error): void => {
    const refused = codeOf(error) === 'ECONNREFUSED';
    if (refused) this.#tally.refused++;
    this.#report(systemError('recvmsg', codeOf(error), '', error), refused);
  };

  #report(error: Error, refused: boolean): void {
    const { onError } = this.#settings;
    if (onError !== undefined) {
      process.nextTick(onError, error);
    } else if (!refused) {
      process.nextTick(() => {
        throw error;
      });
    }
  }

  /** Takes ownership of `datagram`: the caller must not use it again. */
  #send(datagram: Uint8Array, to: { readonly address: string; readonly port: number } | undefined): void {
    this.#pending++;
    this.#tally.sendCalls++;
    const done = (error: Error | null) => this.#sent(error);
    try {
      if (to === undefined) this.#socket.send(datagram, done);
      else this.#socket.send(datagram, to.port, to.address, done);
    } catch (error) {
      // dgram itself rejects some of what the kernel would, such as port 0.
      if (!isError(error)) throw error;
      this.#sent(error);
    }
  }

  #sent(error: Error | null): void {
    this.#pending--;
    if (error === null) {
      this.#tally.sent++;
      this.#takenSinceFlush++;
    } else if (codeOf(error) === 'ECONNREFUSED') {
      this.#tally.refused++;
      this.#report(systemError('sendmsg', 'ECONNREFUSED', '', error), true);
    } else {
      this.#tally.sendErrors++;
    }
    if (this.#wasFull && !this.#isFull()) {
      this.#wasFull = false;
      this.#settings.onDrain?.();
    }
  }

  receive(): number {
    if (this.#handling) throw new UdpError('ERR_UDP_STATE', 'receive was called from within onBatch');
    return 0;
  }

  get pending(): number {
    return this.#pending;
  }

  #isFull(): boolean {
    return this.#pending >= this.#settings.sendQueueLength;
  }

  reserve(): number {
    this.#assertOpen();
    if (this.#isFull()) {
      this.#wasFull = true;
      return -1;
    }
    this.#reserved = true;
    return 0;
  }

  commit(length: number, peer?: Peer): void {
    this.#assertOpen();
    if (!this.#reserved) throw new UdpError('ERR_UDP_STATE', 'commit without reserve');
    if (!(length >= 0 && length <= this.slotBytes) || !Number.isInteger(length)) {
      throw new RangeError(`datagram of ${length} bytes: a slot holds 0 to ${this.slotBytes}`);
    }
    if (peer === undefined && this.#settings.remote === null) {
      throw new UdpError('ERR_UDP_STATE', 'no peer: the socket is not connected, so pass one');
    }
    this.#reserved = false;
    this.#send(this.sendBytes.slice(0, length), peer);
  }

  queue(datagram: Uint8Array, peer?: Peer): boolean {
    if (datagram.length > this.slotBytes || this.reserve() < 0) return false;
    this.sendBytes.set(datagram);
    this.commit(datagram.length, peer);
    return true;
  }

  /** dgram passes on each datagram at once; returns how many were sent since the last call. */
  flush(): number {
    if (!this.#open) return 0;
    const taken = this.#takenSinceFlush;
    this.#takenSinceFlush = 0;
    return taken;
  }

  peerOf(address: string, port: number): Peer {
    const { family, bytes } = peerTarget(this.#settings, address, port);
    return { address, family, port, sockaddr: bytes };
  }

  #assertOpen(): void {
    if (!this.#open) throw new UdpError('ERR_UDP_CLOSED', 'the socket is closed');
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    const deadline = performance.now() + closePatienceMs;
    let quiet = 0;
    let seen = this.#tally.received;
    // Each turn of the event loop reads what is available: a turn without a datagram found the socket empty.
    while ((quiet < quietTurns || this.#pending > 0) && performance.now() < deadline) {
      await turn();
      quiet = this.#tally.received === seen ? quiet + 1 : 0;
      seen = this.#tally.received;
    }
    this.#open = false;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}
