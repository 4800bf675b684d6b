/** Opens one TCP or TLS connection, or fails within the timeout with the reason. */

import { readFileSync } from 'node:fs';
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
} from 'node:tls';
import { messageOf } from '@dinodns-bench/program';
import { loadError } from '../errors.ts';
import { ConnectTimeout } from './failures.ts';
import type { TransportRequest } from './transport.ts';

/** Resolves with a connection that is up: TLS has shaken hands and the certificate is verified. */
export type Dial = (lane: number, onread?: OnReadOpts) => Promise<Socket>;

/** @throws LoadError `E_UNREADABLE` if the file of certificates cannot be read. */
function readAuthorities(path: string | null): Buffer | undefined {
  if (path === null) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw loadError(
      'E_UNREADABLE',
      `the certificates in ${path} cannot be read: ${messageOf(error)}`,
      'give a PEM file that can be read',
      error,
    );
  }
}

/** One context for all connections: making one takes milliseconds. */
function secureContext(caFile: string | null): SecureContext {
  const ca = readAuthorities(caFile);
  try {
    return createSecureContext(ca === undefined ? {} : { ca });
  } catch (error) {
    const problem = `${caFile} contains no certificates: ${messageOf(error)}`;
    throw loadError('E_UNREADABLE', problem, 'give a file in PEM format', error);
  }
}

/** The name for SNI and for the certificate: an address has no place in SNI (RFC 6066 §3). */
function tlsOptions(request: TransportRequest, alpn: string): ConnectionOptions {
  const { server, stream } = request;
  const name = stream.serverName ?? server.host;
  return {
    secureContext: secureContext(stream.caFile),
    ALPNProtocols: [alpn],
    rejectUnauthorized: stream.verify,
    ...(isIP(name) === 0 ? { servername: name } : {}),
  };
}

/**
 * `alpn`: the protocol asked for in TLS's handshake (`dot`, `h2`); null for plain TCP.
 * @throws LoadError `E_UNREADABLE` for the file of authorities.
 */
export function createDialer(request: TransportRequest, alpn: string | null): Dial {
  const { server, sources, sourcePort } = request;
  const tls = alpn === null ? null : tlsOptions(request, alpn);
  return (lane, onread) =>
    new Promise((resolve, reject) => {
      const localAddress = sources[lane % Math.max(1, sources.length)];
      const options = {
        host: server.address,
        port: server.port,
        noDelay: true,
        ...(localAddress === undefined ? {} : { localAddress }),
        ...(sourcePort === 0 ? {} : { localPort: sourcePort + lane }),
        ...(onread === undefined ? {} : { onread }),
      };
      const socket = tls === null ? connect(options) : connectTls({ ...options, ...tls });
      const up = tls === null ? 'connect' : 'secureConnect';
      const settle = () => {
        clearTimeout(timer);
        socket.off(up, succeed).off('error', fail).off('close', closed);
      };
      const succeed = () => {
        settle();
        resolve(socket);
      };
      const fail = (error: Error) => {
        settle();
        // Later errors of this socket do not matter.
        socket.on('error', () => undefined);
        socket.destroy();
        reject(error);
      };
      const closed = () => fail(Object.assign(new Error('closed by the server'), { code: 'ECONNRESET' }));
      const timer = setTimeout(
        () => fail(new ConnectTimeout(`no connection within ${request.timeoutSeconds} s`)),
        request.timeoutSeconds * 1000,
      );
      socket.once(up, succeed).once('error', fail).once('close', closed);
    });
}
