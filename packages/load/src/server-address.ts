/** The server's address: parses what the user wrote and resolves the name. */

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { messageOf } from '@dinodns-bench/program';
import { type LoadError, loadError } from './errors.ts';
import type { ServerAddress } from './transport/transport.ts';

/** RFC 1035, RFC 7858, RFC 8484. */
const DEFAULT_PORTS = { udp: 53, tcp: 53, tls: 853, https: 443 } as const;

export interface ServerText {
  readonly host: string;
  readonly port: number;
  /** Path of an `https://` URL; null if none was given. */
  readonly path: string | null;
}

function serverError(text: string, what: string): LoadError {
  return loadError(
    'E_OPTIONS',
    `"${text}" is not a server: ${what}`,
    'write 127.0.0.1:5300, [::1]:53, a host name, or for DNS over HTTPS https://host/dns-query',
  );
}

function portOf(text: string, port: string): number {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN;
  if (number >= 1 && number <= 65_535) return number;
  throw serverError(text, `"${port}" is not a port (1 to 65535)`);
}

/** Reads `host`, `host:port`, `[address]:port`, an IPv6 address, or a URL. Throws `LoadError` (`E_OPTIONS`). */
export function parseServer(text: string, transport: keyof typeof DEFAULT_PORTS): ServerText {
  if (/^https:\/\//i.test(text)) return parseUrl(text);
  const standard = DEFAULT_PORTS[transport];
  if (isIP(text) !== 0) return { host: text, port: standard, path: null };
  const bracketed = text.match(/^\[([^\]]+)\](?::(.*))?$/);
  if (bracketed?.[1] !== undefined) {
    if (isIP(bracketed[1]) !== 6) throw serverError(text, 'the brackets do not contain an IPv6 address');
    const port = bracketed[2] === undefined ? standard : portOf(text, bracketed[2]);
    return { host: bracketed[1], port, path: null };
  }
  const parts = text.split(/[:#@]/);
  const [host = '', port] = parts;
  if (parts.length > 2)
    throw serverError(text, 'it has too many colons; IPv6 addresses with a port need brackets');
  // Host names, with underscores, which cluster DNS uses.
  if (!/^[\w](?:[\w.-]{0,252}\w)?\.?$/.test(host))
    throw serverError(text, 'the host is neither a name nor an address');
  return { host, port: port === undefined ? standard : portOf(text, port), path: null };
}

function parseUrl(text: string): ServerText {
  if (!URL.canParse(text)) throw serverError(text, 'the URL is invalid');
  const { hostname, port, pathname, search } = new URL(text);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_PORTS.https : portOf(text, port),
    path: pathname === '/' ? null : `${pathname}${search}`,
  };
}

/** Looks the host up, once. Rejects with `E_RESOLVE`. */
export async function resolveServer({ host, port }: ServerText): Promise<ServerAddress> {
  if (isIP(host) !== 0) return { address: host, port, host };
  try {
    const { address } = await lookup(host);
    return { address, port, host };
  } catch (error) {
    throw loadError(
      'E_RESOLVE',
      `the server's name "${host}" has no address: ${messageOf(error)}`,
      'check the spelling, or give its address',
      error,
    );
  }
}
