/** The ports of a server. */
import type { ResolvedOptions } from '../options.ts';
import { reservePort, reserveTcpPort } from './reserve-port.ts';

export interface Ports {
  /** UDP and TCP. */
  readonly dns: number;
  /** DNS over TLS and over HTTPS; absent where the server has none. */
  readonly tls?: number;
  readonly https?: number;
}

/** The ports that the options name, each free on all addresses; for 0 any. */
export async function reservePorts({ addresses, port, tls }: ResolvedOptions): Promise<Ports> {
  const dns = await reservePort(addresses, port);
  const tlsPort = tls?.port === undefined ? {} : { tls: await reserveTcpPort(addresses, tls.port) };
  const httpsPort =
    tls?.httpsPort === undefined ? {} : { https: await reserveTcpPort(addresses, tls.httpsPort) };
  return { dns, ...tlsPort, ...httpsPort };
}
