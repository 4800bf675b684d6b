/** Addresses in packets, as text. */
import { SocketAddress } from 'node:net';
import { u16 } from '@dinodns-bench/wire';

/** The address of this IP version that begins at `at`. */
export function addressText(frame: Uint8Array, at: number, ipVersion: number): string {
  if (ipVersion === 4) return frame.subarray(at, at + 4).join('.');
  const groups = Array.from({ length: 8 }, (_, group) => u16(frame, at + 2 * group).toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}
