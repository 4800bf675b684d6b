/**
 * DNS messages over HTTPS (RFC 8484): POST, one stream of HTTP/2 for each. A connection that the server closed is
 * opened again for the next query.
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import { isIPv6 } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { DOH_MEDIA_TYPE, DOH_PATH } from '@dinodns-bench/wire';
import { type Channel, type ChannelHandlers, tlsOptions } from './channel.ts';
import type { Endpoint } from './endpoint.ts';

const HTTP_OK = 200;

/** Opens no connection before the first `send`. */
export function openHttpsChannel(endpoint: Endpoint, handlers: ChannelHandlers): Channel {
  const { address, port } = endpoint;
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  let current: ClientHttp2Session | undefined;
  let closed = false;

  const open = (): ClientHttp2Session => {
    const options = { ...tlsOptions(endpoint), ALPNProtocols: ['h2'] };
    const session = connect(`https://${authority}`, { createConnection: () => connectTls(options) });
    session.once('error', (error: Error) => {
      if (!closed) handlers.onFailure(error);
    });
    session.once('close', () => {
      if (current === session) current = undefined;
    });
    return session;
  };

  const ask = (session: ClientHttp2Session, message: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': DOH_PATH,
        'content-type': DOH_MEDIA_TYPE,
        'content-length': message.length,
        accept: DOH_MEDIA_TYPE,
      });
      const chunks: Buffer[] = [];
      let status = 0;
      stream.once('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', reject);
      stream.once('end', () => {
        if (status === HTTP_OK) handlers.onMessage(Buffer.concat(chunks));
        else reject(new Error(`HTTP status ${status}`));
        resolve();
      });
      stream.end(message);
    });

  return {
    send: async (message) => {
      if (closed) return;
      if (current === undefined || current.closed || current.destroyed) current = open();
      await ask(current, message);
    },
    close: () => {
      closed = true;
      current?.destroy();
    },
  };
}
