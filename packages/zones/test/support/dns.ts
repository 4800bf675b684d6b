/** Queries a real DNS server over a real socket. */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import * as dnsPacket from 'dns-packet';

export interface Answer {
  readonly rcode: string;
  readonly authoritative: boolean;
  /** The answer section, one comparable string for each record, sorted. */
  readonly records: readonly string[];
  readonly question: string;
}

export interface RecordLike {
  name: string;
  type: string;
  ttl?: number | undefined;
  data: unknown;
}

const QUERY_ID = 4711;

function queryFor(name: string, type: string): dnsPacket.Packet {
  return {
    type: 'query',
    id: QUERY_ID,
    questions: [{ name, type: type as dnsPacket.RecordType, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
}

/** Records from any source in one form: names in lower case, TXT data as strings, keys sorted. */
export function comparable({ name, type, ttl, data }: RecordLike, withTtl = true): string {
  const plain = (value: unknown): unknown => {
    if (Buffer.isBuffer(value)) return value.toString('latin1');
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => key !== 'issuerCritical');
    return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner)] as const).sort());
  };
  return JSON.stringify([name.toLowerCase(), type, withTtl ? ttl : null, plain(data)]);
}

function askUdp(port: number, packet: Buffer, timeout: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const timer = setTimeout(() => finish(() => reject(new Error(`no answer from port ${port}`))), timeout);
    const finish = (then: () => void) => {
      clearTimeout(timer);
      socket.close(then);
    };
    socket.on('message', (message) => finish(() => resolve(message)));
    socket.on('error', (error) => finish(() => reject(error)));
    socket.connect(port, '127.0.0.1', () => socket.send(packet));
  });
}

function askTcp(port: number, packet: Buffer, timeout: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(packet.length);
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.concat([length, packet])));
    let received = Buffer.alloc(0);
    socket.setTimeout(timeout, () => socket.destroy(new Error(`no answer from TCP port ${port}`)));
    socket.on('error', reject);
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE()) return;
      socket.destroy();
      resolve(received.subarray(2));
    });
  });
}

/** One query over UDP, and over TCP if the answer was truncated. */
export async function ask(
  port: number,
  name: string,
  type: string,
  { withTtl = true, timeout = 15_000 }: { withTtl?: boolean; timeout?: number } = {},
): Promise<Answer> {
  const packet = dnsPacket.encode(queryFor(name, type));
  let message = dnsPacket.decode(await askUdp(port, packet, timeout));
  if (message.flag_tc) message = dnsPacket.decode(await askTcp(port, packet, timeout));
  if (message.id !== QUERY_ID) throw new Error(`answer with id ${message.id}`);
  const [question] = message.questions ?? [];
  return {
    rcode: 'rcode' in message ? String(message.rcode) : 'unknown',
    authoritative: message.flag_aa === true,
    records: (message.answers ?? []).map((record) => comparable(record as RecordLike, withTtl)).sort(),
    question: `${question?.name.toLowerCase()} ${question?.type}`,
  };
}
