/** Reads and writes struct sockaddr_in and sockaddr_in6. */
import { type Address, formatAddress } from '../address.ts';
import type { Endpoint, Peer } from '../socket.ts';
import { constants, layout } from './layout.ts';

const { sockaddr_in: v4, sockaddr_in6: v6 } = layout;

/** Large enough for either, and a multiple of eight. */
export const sockaddrSlotBytes = 32;

export const sockaddrLength = (family: 4 | 6): number => (family === 4 ? v4.size : v6.size);

export function encodeSockaddr({ family, bytes, scope }: Address, port: number): Uint8Array {
  const out = new Uint8Array(sockaddrLength(family));
  const view = new DataView(out.buffer);
  view.setUint16(v4.sin_family, family === 4 ? constants.AF_INET : constants.AF_INET6, true);
  view.setUint16(v4.sin_port, port);
  if (family === 4) {
    out.set(bytes.subarray(12), v4.sin_addr);
  } else {
    out.set(bytes, v6.sin6_addr);
    view.setUint32(v6.sin6_scope_id, scope, true);
  }
  return out;
}

export function decodeSockaddr(bytes: Uint8Array): Endpoint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const port = view.getUint16(v4.sin_port);
  if (view.getUint16(v4.sin_family, true) === constants.AF_INET) {
    const address = bytes.subarray(v4.sin_addr, v4.sin_addr + 4).join('.');
    return { address, family: 4, port };
  }
  const scope = view.getUint32(v6.sin6_scope_id, true);
  return { address: formatAddress(bytes, v6.sin6_addr, 6, scope), family: 6, port };
}

/** A peer with a copy of the sockaddr. */
export function peerOfSockaddr(bytes: Uint8Array): Peer {
  const sockaddr = bytes.slice();
  return { ...decodeSockaddr(sockaddr), sockaddr };
}
