/** Chooses the backend and opens a socket. */
import { DgramUdpSocket } from './dgram/socket.ts';
import { UdpError } from './errors.ts';
import { loadLibc } from './native/libc.ts';
import { NativeUdpSocket } from './native/socket.ts';
import { settle } from './options.ts';
import type { Backend, UdpSocket, UdpSocketOptions } from './socket.ts';

const backends: readonly string[] = ['auto', 'native', 'dgram'] satisfies (Backend | 'auto')[];

/** What DINODNS_UDP_BACKEND says goes before the option. */
function chosenBackend(option: Backend | 'auto' = 'auto'): { backend: string; by: string } {
  const variable = process.env.DINODNS_UDP_BACKEND;
  const choice =
    variable === undefined || variable === ''
      ? { backend: option, by: 'the option backend' }
      : { backend: variable, by: 'DINODNS_UDP_BACKEND' };
  if (!backends.includes(choice.backend)) {
    throw new UdpError(
      'ERR_UDP_OPTION',
      `${choice.by} is ${JSON.stringify(choice.backend)}: it must be ${backends.join(', ')}`,
    );
  }
  return choice;
}

/**
 * Opens a UDP socket, bound and, where asked for, connected.
 *
 * The backend is `native` where it can be, else `dgram`, and the socket's `reason` says why. The environment
 * variable DINODNS_UDP_BACKEND (`native`, `dgram` or `auto`) goes before the option.
 *
 * @throws UdpError: ERR_UDP_OPTION, ERR_UDP_ADDRESS, ERR_UDP_BACKEND (`native` asked for where it cannot be), or
 *   the errno's name (EADDRINUSE, EACCES, EADDRNOTAVAIL, …). Nothing stays open then.
 */
export async function openUdpSocket(options: UdpSocketOptions): Promise<UdpSocket> {
  const settings = settle(options);
  const { backend, by } = chosenBackend(options.backend);
  if (backend === 'dgram') return DgramUdpSocket.open(settings, `${by} requests dgram`);
  try {
    return new NativeUdpSocket(await loadLibc(), settings);
  } catch (error) {
    // An address that is in use is so for dgram too; only what is wrong with the way itself calls for the other.
    if (backend === 'native' || !(error instanceof UdpError) || error.code !== 'ERR_UDP_BACKEND') throw error;
    return DgramUdpSocket.open(settings, error.message);
  }
}
