/** Sends a server a real query, as a client would, until it answers. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6, type Socket } from 'node:net';
import { DOH_PATH, frameOf } from '@dinodns-bench/wire';
import { encode } from 'dns-packet';
import { ServerError } from '../errors.ts';
import type { Ports } from './ports.ts';

/** A lost query is sent again after this time. */
const TRY_SECONDS = 0.25;
/** A handshake may take that long on a slow CPU that many clients connect to at once. */
const HANDSHAKE_SECONDS = 5;

interface Target {
  readonly address: string;
  readonly port: number;
}

/** The address at which a client reaches a server that listens on all addresses. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

/** Any answer will do, including NXDOMAIN. */
function question(id: number): Buffer {
  return encode({ type: 'query', id, questions: [{ name: 'ready.invalid', type: 'SOA' }] });
}

function isAnswer(message: Buffer, id: number): boolean {
  return message.length >= 12 && message.readUInt16BE(0) === id && message.readUInt8(2) >= 0x80;
}

async function askUdp({ address, port }: Target, id: number): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(TRY_SECONDS * 1000) });
    socket.send(question(id), port, address);
    const [message] = await answered;
    return isAnswer(message, id);
  } finally {
    socket.close();
  }
}

function askTcp({ address, port }: Target, id: number): Promise<boolean> {
  return askStream(connect({ host: address, port }), id, TRY_SECONDS);
}

/** The certificate may be for a name, or of an authority that only clients know: this asks whether somebody answers. */
async function askTls({ address, port }: Target, id: number): Promise<boolean> {
  const tls = await import('node:tls');
  const socket = tls.connect({ host: address, port, ALPNProtocols: ['dot'], rejectUnauthorized: false });
  return await askStream(socket, id, HANDSHAKE_SECONDS);
}

async function askHttps({ address, port }: Target, id: number): Promise<boolean> {
  const http2 = await import('node:http2');
  const host = isIPv6(address) ? `[${address}]` : address;
  const session = http2.connect(`https://${host}:${port}`, { rejectUnauthorized: false });
  try {
    const failed = once(session, 'error').then(([error]) => Promise.reject(error));
    const dns = question(id).toString('base64url');
    const stream = session.request({ ':path': `${DOH_PATH}?dns=${dns}` }, { endStream: true });
    const answered = once(stream, 'data', { signal: AbortSignal.timeout(HANDSHAKE_SECONDS * 1000) });
    const [answer] = await Promise.race([answered, failed]);
    return isAnswer(answer, id);
  } finally {
    session.destroy();
  }
}

async function askStream(socket: Socket, id: number, seconds: number): Promise<boolean> {
  try {
    socket.write(frameOf(question(id)));
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(seconds * 1000) });
    return isAnswer(answer.subarray(2), id);
  } finally {
    socket.destroy();
  }
}

async function untilAnswered(
  ask: typeof askUdp,
  target: Target,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let id = 1;
  while (!(await ask(target, id).catch(() => false))) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      const transport = ask.name.slice('ask'.length).toUpperCase();
      throw new ServerError(
        'E_START',
        `The server on ${target.address} port ${target.port} does not answer over ${transport}.`,
        'See its messages above; raise the CPU limit if it is very low.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    id = (id + 1) & 0xffff;
  }
}

/**
 * Resolves once `sockets` clients of each transport have had an answer on each address. The kernel spreads clients
 * over processes, so it takes several to reach each process. Rejects with `E_START` after `seconds`.
 */
export async function probe(
  addresses: readonly string[],
  ports: Ports,
  { sockets, seconds, signal }: { sockets: number; seconds: number; signal?: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  const asked = [
    [askUdp, ports.dns],
    [askTcp, ports.dns],
    [askTls, ports.tls],
    [askHttps, ports.https],
  ] as const;
  for (const address of addresses) {
    for (const [ask, port] of asked) {
      if (port === undefined) continue;
      const target = { address: reachable(address), port };
      const clients = Array.from({ length: sockets }, () => untilAnswered(ask, target, deadline, signal));
      await Promise.all(clients);
    }
  }
}
