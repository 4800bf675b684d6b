/** Servers that run already: measured where they are, changed in nothing, and never stopped. */
import { lookupHost } from '../../dns/lookup-host.ts';
import { BenchError } from '../../errors.ts';
import { isLoopback } from '../../text.ts';
import type { AddressServer, Server, ServiceServer } from '../server.ts';
import { parsePlace, placeText } from './place.ts';

/** The kind of these servers in records. */
const KIND = 'at';

function serverAt(entry: string, name: string | null, place: AddressServer | ServiceServer): Server {
  return {
    name: name ?? entry,
    title: name ?? placeText(place),
    kind: KIND,
    variant: null,
    version: null,
    isVersionNamed: false,
    program: null,
    image: null,
    existing: place,
    answersUnknownZoneWith: 'either',
    plan: () => {
      throw new Error(`${entry} is found, not deployed`);
    },
    versionArguments: [],
    parseVersion: () => null,
  };
}

/**
 * The server of an entry `at=PLACE` or `NAME=at:PLACE`. `caseName`: what cases call it; `name`: the one that the user
 * gave, if any.
 * @throws BenchError `E_CONFIG` if `text` names no place.
 */
export function findRunning(caseName: string, name: string | null, text: string): Server {
  const place = parsePlace(text);
  if ('problem' in place) {
    throw new BenchError('E_CONFIG', `--servers: ${place.problem}`, {
      fix: 'For example: --servers at=127.0.0.1:5300, at=[::1]:53/pid=1234, or old=at:192.0.2.1.',
    });
  }
  return serverAt(caseName, name, place);
}

function demandConsent(server: Server, { host, port }: AddressServer, address: string): void {
  const where = host === address ? '' : ` (${host})`;
  throw new BenchError(
    'E_CONFIG',
    `${server.name}: ${address}${where} is not a loopback address of this machine`,
    {
      evidence: [
        `bench would send it as many queries as it answers on port ${port}, which can take a server or a network down`,
      ],
      fix: 'If the server and the network between are yours to load, add --allow-remote; a --rate limits the load.',
    },
  );
}

/**
 * The servers with their host names looked up: once, so that all trials load the same address.
 * @throws BenchError `E_NO_ANSWER` for a name without an address; `E_CONFIG` if load would leave this machine and the
 * user has not said that it may.
 */
export async function locateServers(
  servers: readonly Server[],
  { allowRemote }: { readonly allowRemote: boolean },
): Promise<Server[]> {
  return Promise.all(
    servers.map(async (server) => {
      const { existing } = server;
      if (existing?.kind !== 'address') return server;
      const address = existing.address ?? (await lookupHost(server.name, existing.host));
      if (!allowRemote && !isLoopback(address)) demandConsent(server, existing, address);
      return { ...server, existing: { ...existing, address } };
    }),
  );
}
