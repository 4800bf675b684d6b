/**
 * Profile `dinodns`: the framework's server with the robust networks in front and the zone store behind all
 * middleware and handlers, so that these see every query first, as with any other DinoDNS server.
 */
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { bindError } from '../errors.ts';
import { CaseInsensitiveRouter } from '../framework/router.ts';
import type { ManagedNetwork } from '../network/managed-network.ts';
import { canReusePort } from '../network/reuse-port.ts';
import { RobustTcpNetwork } from '../network/tcp.ts';
import { RobustUdpNetwork } from '../network/udp.ts';
import type { ResolvedOptions } from '../options.ts';
import { loadStore } from '../store/load.ts';
import { ZoneStore } from '../store/zone-store.ts';
import type { BuiltServer, Profile } from './profile.ts';

function finish(): void {
  // The store is the last in the chain.
}

/** Answers from the zones; a name outside of them is not ours to deny (RFC 8499, "lame"). */
function answerFrom(store: ZoneStore): Handler {
  return (request, response) => {
    store.handler(request, response, finish);
    if (!response.finished) response.errors.refused();
  };
}

function networksOf({ addresses, port }: ResolvedOptions, reusePort: boolean): ManagedNetwork[] {
  return addresses.flatMap((address) => [
    new RobustUdpNetwork({ address, port, reusePort }),
    new RobustTcpNetwork({ address, port, reusePort }),
  ]);
}

async function openAll(networks: readonly ManagedNetwork[], port: number): Promise<void> {
  for (const network of networks) {
    network.port = port;
    try {
      await network.open();
    } catch (error) {
      for (const opened of networks) opened.close();
      throw bindError(error, network.address, port);
    }
  }
}

export const dinodnsProfile: Profile = {
  name: 'dinodns',
  clusteredBy: 'package',
  unsupported: () => null,
  build(options, shared): BuiltServer {
    const networks = networksOf(options, shared && canReusePort());
    const store = new ZoneStore();
    const server = new DefaultServer({
      networks,
      router: new CaseInsensitiveRouter(),
      defaultHandler: answerFrom(store),
    });
    return {
      server,
      async open(port) {
        loadStore(store, options.zones);
        await openAll(networks, port);
      },
      async shutdown(seconds) {
        await Promise.all(networks.map((network) => network.shutdown(seconds)));
      },
    };
  },
};
