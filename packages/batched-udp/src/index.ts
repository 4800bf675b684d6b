export { UdpError, type UdpErrorCode } from './errors.ts';
export { openUdpSocket } from './open.ts';
export type {
  Backend,
  Batch,
  BatchHandler,
  Endpoint,
  Peer,
  UdpSocket,
  UdpSocketCounters,
  UdpSocketOptions,
  Waiting,
} from './socket.ts';
