/** Finds free ports. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { BenchError } from '../../errors.ts';

/** Binds TCP port 0 and calls `use` with the port while it is held. */
async function withFreeTcpPort<T>(address: string, use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address, port: 0, exclusive: true }, resolve);
  });
  try {
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('a TCP server without a port');
    return await use(bound.port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function isFreeForUdp(address: string, port: number): Promise<boolean> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind({ address, port, exclusive: true }, () => resolve(true));
    });
  } finally {
    socket.close();
  }
}

const ATTEMPTS = 50;

/**
 * Ports that were found lately, newest last: their programs may not listen yet, and the kernel would give them once more, to a server
 * beside, or to another part of the same one. Starts side by side need some dozens at most.
 */
const lately: number[] = [];
const REMEMBERED = 256;

/** A port of `address` that is free for UDP and TCP now, and was not found lately. Rejects with `E_PORT_TAKEN` if none turns up. */
export async function findFreePort(address: string): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = await withFreeTcpPort(address, async (candidate) =>
      !lately.includes(candidate) && (await isFreeForUdp(address, candidate)) ? candidate : null,
    );
    if (port === null) continue;
    lately.push(port);
    lately.splice(0, lately.length - REMEMBERED);
    return port;
  }
  throw new BenchError('E_PORT_TAKEN', `no port of ${address} is free for both UDP and TCP`, {
    fix: '`ss -lntu` lists the listening programs; stop one that is not needed.',
  });
}

/** Another program may take a port between the choice and the start. */
const TAKEN_ATTEMPTS = 3;

/** Tries again, with other ports, where one was taken meanwhile: `E_PORT_TAKEN`. Rejects as the last attempt does. */
export async function retryTaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isTaken = error instanceof BenchError && error.code === 'E_PORT_TAKEN';
      if (!isTaken || count === TAKEN_ATTEMPTS) throw error;
    }
  }
}

/** Whether a program says in its log that it could not listen. */
export function saysTaken(lines: readonly string[]): boolean {
  return lines.some((line) => /address already in use|EADDRINUSE/i.test(line));
}
