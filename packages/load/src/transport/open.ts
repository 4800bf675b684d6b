/** Opens the connection-based transports. `openUdp` opens UDP, which needs more options. */
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
