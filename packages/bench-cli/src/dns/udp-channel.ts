/** DNS messages in datagrams of one connected socket: only the server's own datagrams reach us. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Channel, ChannelHandlers } from './channel.ts';
import type { Endpoint } from './endpoint.ts';

/** Opens the socket; a closed port shows as a failure (ICMP, ECONNREFUSED) after the first send. */
export function openUdpChannel(endpoint: Endpoint, handlers: ChannelHandlers): Channel {
  const socket = createSocket(isIPv6(endpoint.address) ? 'udp6' : 'udp4');
  let closed = false;
  socket.on('message', (message) => handlers.onMessage(message));
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.on('error', (error) => {
      reject(error);
      handlers.onFailure(error);
    });
  });
  connected.catch(() => undefined);
  socket.connect(endpoint.port, endpoint.address);
  return {
    send: async (message) => {
      await connected;
      if (closed) return;
      await new Promise<void>((resolve, reject) => {
        socket.send(message, (error) => (error === null ? resolve() : reject(error)));
      });
    },
    close: () => {
      if (closed) return;
      closed = true;
      socket.close();
    },
  };
}
