/** Why sockets could not be opened, as errors that a user can act on. */

import { readFileSync } from 'node:fs';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { type ErrorCode, type LoadError, loadError } from '../errors.ts';
import type { TransportRequest } from './transport.ts';

/** The `LoadError` for a system error of opening, binding or connecting. */
export function openError(
  error: unknown,
  request: Pick<TransportRequest, 'server' | 'sources' | 'lanes'>,
): LoadError {
  const { server, sources, lanes } = request;
  const where = `${server.address} port ${server.port}`;
  const from = sources.length === 0 ? 'the local address' : `source address ${sources.join(', ')}`;
  const fail = (code: ErrorCode, problem: string, fix: string) => loadError(code, problem, fix, error);
  switch (systemErrorCode(error)) {
    case 'EMFILE':
    case 'ENFILE':
      return descriptorError(lanes, error);
    case 'ENOBUFS':
    case 'ENOMEM':
      return fail('E_LIMIT', `no memory left for ${lanes} sockets`, 'use fewer clients (-c)');
    case 'EACCES':
    case 'EPERM':
      return fail(
        'E_PERMISSION',
        `permission denied to send to ${where}: ${messageOf(error)}`,
        'check the firewall and the address (broadcast addresses are not allowed), or use a source port above 1023',
      );
    case 'EADDRNOTAVAIL':
      return fail(
        'E_SOURCE',
        `${from} cannot be used: it is not an address of this machine, or it has no free ports`,
        'choose an address that `ip address` shows, add addresses with -a, or use fewer clients (-c)',
      );
    case 'EADDRINUSE':
      return fail(
        'E_SOURCE',
        `a local port is in use: ${messageOf(error)}`,
        'choose another first port (-x), or let the system choose',
      );
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return fail(
        'E_SOURCE',
        `${from} cannot reach ${where}: ${messageOf(error)}`,
        'use a source address of the same family (IPv4 or IPv6) as the server, not a loopback one for a remote server',
      );
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
    case 'ECONNREFUSED':
      return fail(
        'E_UNREACHABLE',
        `${where} cannot be reached: ${messageOf(error)}`,
        'check the address, the route and that the server is running',
      );
    default:
      return fail(
        'E_UNREACHABLE',
        `cannot open sockets to ${where}: ${messageOf(error)}`,
        'check the address',
      );
  }
}

/** The process's limit of open descriptors (RLIMIT_NOFILE, soft); null if unknown. */
export function descriptorLimit(): number | null {
  try {
    const line = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+(\d+)/m);
    return line?.[1] === undefined ? null : Number(line[1]);
  } catch {
    // No /proc: not Linux.
    return null;
  }
}

/** Too many sockets for the descriptor limit. Node.js has already raised the soft limit to the hard one. */
export function descriptorError(sockets: number, cause?: unknown): LoadError {
  const limit = descriptorLimit();
  return loadError(
    'E_LIMIT',
    `no descriptors left for ${sockets} sockets${limit === null ? '' : `: this process may have ${limit} files open`}`,
    `use fewer clients (-c), or raise the limit (ulimit -n ${sockets + 256}; as root, prlimit or LimitNOFILE=)`,
    cause,
  );
}
