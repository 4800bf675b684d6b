import type { ConnectionOptions } from 'node:tls';
import type { Endpoint } from './endpoint.ts';

/** What carries DNS messages; `client.ts` matches them. */
export interface Channel {
  send(message: Buffer): Promise<void>;
  close(): void;
}

export interface ChannelHandlers {
  onMessage(message: Buffer): void;
  onFailure(error: Error): void;
}

/**
 * What a client of an encrypted transport connects with.
 * @throws Error for an endpoint without `trust`: whoever made it did not mean it for this transport.
 */
export function tlsOptions({ address, port, trust }: Endpoint): ConnectionOptions {
  if (trust === undefined) throw new Error(`${address}:${port} has no certificate to verify`);
  return { host: address, port, ca: trust.authority, servername: trust.serverName };
}
