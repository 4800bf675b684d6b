/** A DNS server in the test's own process, which can be told what to answer. */
import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';

export const NOERROR = 0;
export const NXDOMAIN = 3;
export const REFUSED = 5;

/** The response code for a name, which is asked for the `asked`th time; null: no answer. */
export type CodeOf = (name: string, asked: number) => number | null;

/** As the zone set of a run has it: names with odd numbers exist, and all others are outside of all zones. */
export const zoneSetCode: CodeOf = (name) => (/^example\d*[13579]\.com$/i.test(name) ? NOERROR : REFUSED);

export interface UdpServer {
  readonly port: number;
  close(): void;
}

/** Answers `A 127.0.0.1` where the code is NOERROR. */
export async function startUdpServer(
  codeOf: CodeOf = zoneSetCode,
  address = '127.0.0.1',
): Promise<UdpServer> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const times = new Map<string, number>();
  socket.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const asked = (times.get(name) ?? 0) + 1;
    times.set(name, asked);
    const code = codeOf(name, asked);
    if (code === null) return;
    const record = { name, type: 'A', ttl: 60, data: '127.0.0.1' } as const;
    const answers = code === NOERROR ? [record] : [];
    socket.send(encode({ type: 'response', id, flags: code, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((listening) => socket.bind(0, address, listening));
  return { port: socket.address().port, close: () => socket.close() };
}
