/** The resolvers of the laboratory: servers of any kind, each at an address of its own on the node, port 53. */
import { join } from 'node:path';
import { defineZoneSet, type ZoneSet } from '@dinodns-bench/zones';
import { configure } from '../../../config/configuration.ts';
import { caseNameOf } from '../../../config/server-name.ts';
import type { OpenRequest } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import type { Programs } from '../../../measure/session.ts';
import { loadServers } from '../../../servers/load.ts';
import type { Server } from '../../../servers/server.ts';
import { createLocalTarget } from '../../../targets/local/local-target.ts';
import { createProcessGroup } from '../../../targets/local/process-group.ts';
import type { ResourceGroups } from '../../../targets/local/resource-group.ts';
import type { World } from '../../../world.ts';
import type { LookupSettings } from '../settings.ts';
import type { Lab } from './lab.ts';

export interface SiteName {
  readonly host: string;
  readonly addresses: readonly string[];
}

/** A zone with the site's name: the domain above it, or the name itself where that is a domain of two labels. */
export function siteZone({ host, addresses }: SiteName): ZoneSet {
  const labels = host.split('.');
  const isApex = labels.length < 3;
  const name = isApex ? '@' : (labels[0] ?? '@');
  return defineZoneSet({
    pattern: isApex ? host : labels.slice(1).join('.'),
    from: 0,
    to: 0,
    parity: 'all',
    // The domain itself has them, too: dnsmasq cannot hold a name without addresses.
    records: [...new Set(['@', name])].flatMap((owner) =>
      addresses.map((data) => ({ name: owner, type: data.includes(':') ? 'AAAA' : 'A', data }) as const),
    ),
  });
}

/** @throws BenchError `E_CONFIG` for a server that cannot be a resolver here */
function demandResolver({ name, existing, answers }: Server): void {
  if (existing === undefined && answers === undefined) return;
  const why = existing === undefined ? 'is not a DNS server' : 'runs already, outside of the namespaces';
  throw new BenchError('E_CONFIG', `--servers: ${name} ${why}`, {
    fix: 'Name servers that bench starts; `bench servers` lists them.',
  });
}

/** The settings of a comparison that say how programs are found. */
export function resolverConfiguration({ servers, corednsVersion, provision }: LookupSettings) {
  const baseline = caseNameOf(servers[0] ?? '');
  return configure({
    flags: { servers: [...servers], baseline, loader: 'builtin', provision, corednsVersion },
    env: {},
  });
}

/** The servers of --local, checked. */
export async function loadResolvers(world: World, settings: LookupSettings): Promise<readonly Server[]> {
  const { corednsVersion } = resolverConfiguration(settings);
  const servers = await loadServers(world, settings.servers, { corednsVersion });
  for (const server of servers) demandResolver(server);
  return servers;
}

/** CoreDNS of a generated cluster gets names outside the cluster from an upstream: that one knows the site. */
function knowingSite(server: Server, { host, addresses }: SiteName): Server {
  const { companions } = server;
  if (companions === undefined) return server;
  return {
    ...server,
    companions: (address) =>
      companions(address).map((companion) =>
        companion.name === 'upstream'
          ? { ...companion, arguments: [...companion.arguments, '--host', `${host}=${addresses.join(',')}`] }
          : companion,
      ),
  };
}

/** No limits: what is measured is how long a client waits. */
function unlimitedGroups(world: World): ResourceGroups {
  return {
    method: 'none',
    reason: null,
    create: () => createProcessGroup(world),
    close: async () => undefined,
  };
}

export const DNS_PORT = 53;

/** Starts all of them; what it resolves with stops them. */
export async function startResolvers(
  lab: Lab,
  site: SiteName,
  programOf: Programs['programOf'],
  logDirectory: string,
  {
    decided: { servers },
    signal,
    force,
  }: Pick<OpenRequest<unknown, { readonly servers: readonly Server[] }>, 'decided' | 'signal' | 'force'>,
): Promise<AsyncDisposable> {
  const { world } = lab.node;
  await using started = new AsyncDisposableStack();
  for (const [index, server] of servers.entries()) {
    const target = await createLocalTarget(world, {
      groups: unlimitedGroups(world),
      readinessQueries: () => [{ name: site.host, type: 'A' }],
      address: lab.addresses.resolver(index),
      choosePort: async () => DNS_PORT,
      force,
    });
    started.defer(() => target.close());
    await target.deploy({
      server: knowingSite(server, site),
      program: programOf(server),
      zoneSet: siteZone(site),
      mode: 'multi',
      transport: 'udp',
      allowances: [1],
      logDirectory: join(logDirectory, 'servers'),
      signal,
    });
  }
  return started.move();
}
