/** Why connections fail: short texts that results count, and errors that a user can act on. */
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { type LoadError, loadError } from '../errors.ts';
import { openError } from './open-error.ts';
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
