/** A DNS client that shows every byte, for messages that no well-behaved client would send. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6, type Socket } from 'node:net';
import { type Answer, type DecodedPacket, decode, encode, type Packet } from 'dns-packet';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface Reply {
  readonly raw: Buffer;
  readonly packet: DecodedPacket;
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly answers: Answer[];
  readonly authorities: Answer[];
  readonly additionals: Answer[];
}

export type Transport = 'udp' | 'tcp';
export const TRANSPORTS: readonly Transport[] = ['udp', 'tcp'];

export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

/** How long a reply may take that must come: on a busy machine a server may have to wait for the CPU. */
const PATIENCE_SECONDS = 15;

let lastId = 0;

/** A query for one name as bytes. */
export function query(name: string, type = 'A', more: Packet = {}): Buffer {
  lastId = (lastId + 1) & 0xffff;
  const question = { name, type: type as 'A' };
  return encode({ type: 'query', id: lastId, questions: [question], ...more });
}

/** An OPT record with the given size. */
export function opt(
  udpPayloadSize: number,
  more: { ednsVersion?: number; flags?: number; options?: object[] } = {},
): Answer {
  const record = {
    name: '.',
    type: 'OPT',
    udpPayloadSize,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    options: [],
  };
  return { ...record, flag_do: false, ...more } as Answer;
}

function parse(raw: Buffer): Reply {
  const packet = decode(raw);
  const flags = raw.readUInt16BE(2);
  return {
    raw,
    packet,
    rcode: flags & 0xf,
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    answers: packet.answers ?? [],
    authorities: packet.authorities ?? [],
    additionals: packet.additionals ?? [],
  };
}

/** Sends bytes in one datagram; the reply, or undefined if there is none within `seconds`. */
export async function sendUdp(
  { address, port }: Endpoint,
  message: Buffer,
  seconds = 2,
): Promise<Buffer | undefined> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(seconds * 1000) });
    socket.send(message, port, address);
    return (await answered)[0];
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined;
    throw error;
  } finally {
    socket.close();
  }
}

/** The message after its length field. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Collects the messages received on a connection. */
export class TcpClient {
  readonly socket: Socket;
  readonly messages: Buffer[] = [];
  ended = false;
  #rest = Buffer.alloc(0);

  constructor({ address, port }: Endpoint, localAddress?: string) {
    const from = localAddress === undefined ? {} : { localAddress };
    this.socket = connect({ host: address, port, allowHalfOpen: true, ...from });
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => {
      this.ended = true;
    });
    this.socket.on('close', () => {
      this.ended = true;
    });
    this.socket.on('data', (chunk) => this.#read(Buffer.from(chunk)));
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 2 && this.#rest.length >= 2 + this.#rest.readUInt16BE(0)) {
      const end = 2 + this.#rest.readUInt16BE(0);
      this.messages.push(this.#rest.subarray(2, end));
      this.#rest = this.#rest.subarray(end);
    }
  }

  async receive(count: number, seconds = PATIENCE_SECONDS): Promise<Buffer[]> {
    const deadline = performance.now() + seconds * 1000;
    while (this.messages.length < count && !this.ended && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return this.messages;
  }
}

/** Sends bytes as one message over TCP; the reply, or undefined if the server closes or stays silent. */
export async function sendTcp(endpoint: Endpoint, message: Buffer, seconds = 2): Promise<Buffer | undefined> {
  const client = new TcpClient(endpoint);
  client.socket.write(framed(message));
  const [reply] = await client.receive(1, seconds);
  client.socket.destroy();
  return reply;
}

export async function send(
  transport: Transport,
  endpoint: Endpoint,
  message: Buffer,
  seconds?: number,
): Promise<Buffer | undefined> {
  return (transport === 'udp' ? sendUdp : sendTcp)(endpoint, message, seconds);
}

/** Sends bytes and decodes the reply. Throws if there is none. */
export async function exchange(transport: Transport, endpoint: Endpoint, message: Buffer): Promise<Reply> {
  const raw = await send(transport, endpoint, message, PATIENCE_SECONDS);
  if (raw === undefined) throw new Error(`no reply over ${transport}`);
  return parse(raw);
}

export async function ask(
  transport: Transport,
  endpoint: Endpoint,
  name: string,
  type = 'A',
  more: Packet = {},
): Promise<Reply> {
  return exchange(transport, endpoint, query(name, type, more));
}
