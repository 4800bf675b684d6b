/**
 * DNS messages over TCP, each after its length in two octets (RFC 1035 section 4.2.2). Queries are
 * pipelined on one connection (RFC 7766); one that the server closed is opened again for the next query.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createFrameReader, frameOf } from '@dinodns-bench/wire';
import { type Channel, type ChannelHandlers, tlsOptions } from './channel.ts';
import type { Endpoint } from './endpoint.ts';

/** Opens no connection before the first `send`. */
export function openTcpChannel({ address, port }: Endpoint, handlers: ChannelHandlers): Channel {
  return openStreamChannel(() => connect({ host: address, port, noDelay: true }), handlers);
}

/** The same over TLS (RFC 7858). */
export function openTlsChannel(endpoint: Endpoint, handlers: ChannelHandlers): Channel {
  return openStreamChannel(() => connectTls({ ...tlsOptions(endpoint), ALPNProtocols: ['dot'] }), handlers);
}

function openStreamChannel(dial: () => Socket, handlers: ChannelHandlers): Channel {
  let current: Socket | undefined;
  let closed = false;

  const open = (): Socket => {
    const socket = dial();
    const reader = createFrameReader((bytes, offset, length) =>
      handlers.onMessage(Buffer.from(bytes.subarray(offset, offset + length))),
    );
    socket.on('data', (chunk) => reader.push(chunk, chunk.length));
    const lose = (error: Error) => {
      if (current === socket) current = undefined;
      if (!closed) handlers.onFailure(error);
    };
    socket.once('error', lose);
    socket.once('close', (hadError) => {
      if (!hadError) lose(new Error('the server closed the connection'));
    });
    return socket;
  };

  return {
    send: async (message) => {
      if (closed) return;
      current ??= open();
      const socket = current;
      await new Promise<void>((resolve, reject) => {
        socket.write(frameOf(message), (error) =>
          error === null || error === undefined ? resolve() : reject(error),
        );
      });
    },
    close: () => {
      closed = true;
      current?.destroy();
    },
  };
}
