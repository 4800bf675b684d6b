/** Opens the transports that have connections. UDP is opened by `openUdp`, which needs more of a request. */
import { openHttps } from './https.ts';
import { openStreams } from './streams.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** Rejects with a `LoadError` if no connection at all could be made. */
export function openConnections(
  kind: 'tcp' | 'tls' | 'https',
  request: TransportRequest,
): Promise<Transport> {
  return kind === 'https' ? openHttps(request) : openStreams(kind, request);
}
