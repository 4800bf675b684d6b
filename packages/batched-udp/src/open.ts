/** Chooses the backend and opens a socket. */
import { DgramUdpSocket } from './dgram.ts';
import { UdpError } from './errors.ts';
import { loadLibc } from './native/koffi.ts';
import { NativeUdpSocket } from './native/socket.ts';
import { chosen, settle } from './options.ts';
import type { Backend, UdpSocket, UdpSocketOptions } from './socket.ts';

const backends: readonly (Backend | 'auto')[] = ['auto', 'native', 'dgram'];

/**
 * Opens a UDP socket, bound and, if requested, connected.
 *
 * The backend is `native` if possible, else `dgram`, and the socket's `reason` says why. The environment variable
 * DINODNS_UDP_BACKEND (`native`, `dgram` or `auto`) takes precedence over the option.
 *
 * @throws UdpError: ERR_UDP_OPTION, ERR_UDP_ADDRESS, ERR_UDP_BACKEND (`native` requested but unavailable), or the
 *   errno's name (EADDRINUSE, EACCES, EADDRNOTAVAIL, …). Nothing is left open.
 */
export async function openUdpSocket(options: UdpSocketOptions): Promise<UdpSocket> {
  const settings = settle(options);
  const { name: backend, by } = chosen('backend', options.backend ?? 'auto', 'DINODNS_UDP_BACKEND', backends);
  if (backend === 'dgram') return DgramUdpSocket.open(settings, `${by} requests dgram`);
  try {
    return new NativeUdpSocket(await loadLibc(), settings);
  } catch (error) {
    // An address in use is in use for dgram too; fall back only if the native backend itself is unavailable.
    if (backend === 'native' || !(error instanceof UdpError) || error.code !== 'ERR_UDP_BACKEND') throw error;
    return DgramUdpSocket.open(settings, error.message);
  }
}
