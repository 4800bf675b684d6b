export type {
  Backend,
  Batch,
  BatchHandler,
  Endpoint,
  Peer,
  UdpSocket,
  UdpSocketCounters,
  UdpSocketOptions,
} from './socket.ts';
