/**
 * The ports of a server. Each is made sure to be ours alone, over UDP and TCP and on every address, before workers bind it with
 * SO_REUSEPORT. With that option, two servers of one user would silently share the port, and each would get half
 * of the other's queries.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import { given, systemErrorCode } from '@dinodns-bench/program';
import { bindError, type ServerError } from '../errors.ts';
import type { ResolvedOptions } from '../options.ts';

export interface Ports {
  /** UDP and TCP. */
  readonly dns: number;
  /** DNS over TLS and over HTTPS; absent where the server has none. */
  readonly tls?: number;
  readonly https?: number;
}

/** Ports tried for `--port 0`: one that is free for UDP is rarely taken for TCP. */
const MAX_ATTEMPTS = 50;

async function bindUdp(address: string, port: number): Promise<Socket> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  socket.bind({ address, port, exclusive: true });
  await once(socket, 'listening');
  return socket;
}

async function bindTcp(address: string, port: number): Promise<Server> {
  const server = createServer();
  server.listen({ host: address, port, exclusive: true });
  await once(server, 'listening');
  return server;
}

type Protocol = 'udp' | 'tcp';

/** Binds everything and releases it again. Returns the port, or the bind error. */
async function tryPort(
  addresses: readonly string[],
  port: number,
  protocols: readonly Protocol[],
): Promise<number | ServerError> {
  const held: (Socket | Server)[] = [];
  let chosen = port;
  for (const address of addresses) {
    try {
      for (const protocol of protocols) {
        const bound = await (protocol === 'udp' ? bindUdp : bindTcp)(address, chosen);
        held.push(bound);
        chosen = portOf(bound) ?? chosen;
      }
    } catch (error) {
      await releaseAll(held);
      return bindError(error, address, chosen);
    }
  }
  await releaseAll(held);
  return chosen;
}

async function releaseAll(held: readonly (Socket | Server)[]): Promise<void> {
  await Promise.all(held.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
}

function portOf(bound: Socket | Server): number | undefined {
  const address = bound.address();
  return typeof address === 'object' ? address?.port : undefined;
}

/** The ports that the options name, each free on all addresses; for 0 any. */
export async function reservePorts({ addresses, port, tls }: ResolvedOptions): Promise<Ports> {
  const dns = await reserve(addresses, port, ['udp', 'tcp']);
  const tcp = async (of: number | undefined) =>
    of === undefined ? undefined : await reserve(addresses, of, ['tcp']);
  return { dns, ...given({ tls: await tcp(tls?.port), https: await tcp(tls?.httpsPort) }) };
}

async function reserve(
  addresses: readonly string[],
  port: number,
  protocols: readonly Protocol[],
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const result = await tryPort(addresses, port, protocols);
    if (typeof result === 'number') return result;
    const isTaken = systemErrorCode(result.cause) === 'EADDRINUSE';
    if (port !== 0 || !isTaken || attempt === MAX_ATTEMPTS) throw result;
  }
}
