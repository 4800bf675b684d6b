/**
 * A place where several loads wait for each other: a line-based protocol over TCP. Each load says `ready` and its
 * number when it could begin, and answers each `time` with its clock; when all have, each gets `go`. Later it says `started` and
 * `ended`. The times of all loads are the gate's own, so the clocks of their machines do not matter; how far these are from
 * its own is only noted.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { messageOf } from '@dinodns-bench/program';
import { loadError } from './errors.ts';

export interface GateAddress {
  readonly address: string;
  readonly port: number;
  /** Number of this load, from 0. */
  readonly index: number;
}

export interface PassedGate {
  tell(what: 'started' | 'ended'): void;
  close(): void;
}

/** Resolves at `go`; until then it tells the time whenever it is asked. */
function letGo(socket: Socket, index: number): Promise<void> {
  return new Promise((resolve) => {
    let rest = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const unixSeconds = (performance.timeOrigin + performance.now()) / 1000;
        if (line === 'time') socket.write(`time ${index} ${unixSeconds}\n`);
        if (line === 'go') resolve();
      }
    });
  });
}

/** Waits at the gate until all loads are ready. @throws LoadError `E_UNREACHABLE` if the gate is not there, or closes. */
export async function passGate({ address, port, index }: GateAddress): Promise<PassedGate> {
  const socket = connect({ host: address, port, noDelay: true });
  const closed = once(socket, 'close').then(() => {
    throw new Error('it closed before all loads were ready');
  });
  closed.catch(() => undefined);
  try {
    await once(socket, 'connect');
    socket.write(`ready ${index}\n`);
    await Promise.race([letGo(socket, index), closed]);
  } catch (error) {
    socket.destroy();
    throw loadError(
      'E_UNREACHABLE',
      `the gate at ${address} port ${port} failed: ${messageOf(error)}`,
      'see why another load ended, and whether a firewall or a network policy forbids the connection',
      error,
    );
  }
  socket.on('error', () => undefined);
  return {
    tell: (what) => socket.write(`${what} ${index}\n`),
    close: () => socket.end(),
  };
}
