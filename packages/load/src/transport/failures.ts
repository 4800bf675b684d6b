/** Why sockets cannot be opened, and connections fail: short texts that results count, and errors that a user can act on. */
import { readFileSync } from 'node:fs';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { type ErrorCode, type LoadError, loadError } from '../errors.ts';
import type { LaneFailure, TransportRequest } from './transport.ts';

/** A connection was not established in time. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

/** The server does not speak the requested protocol: no HTTP/2, for example. */
export class ProtocolMismatch extends Error {
  override readonly name = 'ProtocolMismatch';
}

const BY_CODE: Readonly<Record<string, LaneFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EPROTO: 'tls',
};

/** OpenSSL's verification errors have no common prefix. */
const TLS_CODE = /^ERR_(TLS|SSL)_|CERT|SELF_SIGNED|UNABLE_TO_|^INVALID_(CA|PURPOSE)|^CRL_|HOSTNAME_MISMATCH/;

export function laneFailureOf(error: Error): LaneFailure {
  if (error instanceof ConnectTimeout) return 'timeout';
  if (error instanceof ProtocolMismatch) return 'protocol';
  const code = systemErrorCode(error) ?? '';
  if (BY_CODE[code] !== undefined) return BY_CODE[code];
  if (TLS_CODE.test(code)) return 'tls';
  return code.startsWith('ERR_HTTP2') ? 'protocol' : 'closed';
}

/** Whether the certificate is the reason, rather than the handshake. */
function isCertificateError(error: Error): boolean {
  const code = systemErrorCode(error) ?? '';
  return /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME/.test(code);
}

/** The error for a server to which not even a first connection could be made. */
export function connectError(
  kind: 'tcp' | 'tls' | 'https',
  error: Error,
  request: Pick<TransportRequest, 'server' | 'sources' | 'lanes' | 'stream' | 'timeoutSeconds'>,
): LoadError {
  const { server } = request;
  const where = `${server.address} port ${server.port}`;
  const unreachable = (problem: string, fix: string) => loadError('E_UNREACHABLE', problem, fix, error);
  if (error instanceof ConnectTimeout)
    return unreachable(
      `no ${kind === 'tcp' ? 'connection' : 'TLS connection'} to ${where} within ${request.timeoutSeconds} s`,
      'check the address and that the server speaks this transport, or give a longer timeout (-t)',
    );
  if (error instanceof ProtocolMismatch)
    return unreachable(
      `${where}: ${error.message}`,
      'check the port, and that the server speaks DNS over HTTPS',
    );
  switch (laneFailureOf(error)) {
    case 'tls':
      return isCertificateError(error)
        ? unreachable(
            `the certificate of ${where} does not verify: ${messageOf(error)}`,
            'give its authority with --ca FILE, its name with --server-name NAME, or skip verification with --insecure',
          )
        : unreachable(
            `${where} does not speak TLS as expected: ${messageOf(error)}`,
            'check the port: DNS over TLS is usually on 853, DNS over HTTPS on 443',
          );
    case 'reset':
    case 'closed':
      return unreachable(
        `${where} closed the connection at once: ${messageOf(error)}`,
        'check that the server speaks this transport on this port',
      );
    default:
      return openError(error, request);
  }
}

/** The text for a failed connection, the same for the same reason: without ports. */
export function failureText(failure: LaneFailure, error: Error | null): string {
  if (error === null) return `connection ${failure}`;
  return `connection ${failure}: ${error.message.replace(/\s+\d{1,3}(\.\d{1,3}){3}:\d+.*$/, '')}`;
}

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
