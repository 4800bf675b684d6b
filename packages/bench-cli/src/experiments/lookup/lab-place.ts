/** The laboratory as the place of samples: its resolvers, its site, and a simulated policy agent. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Opened } from '../../engine/experiment.ts';
import { createRunDirectory } from '../../machine/run-directory.ts';
import { preparePrograms } from '../../measure/session.ts';
import { parseSnmp } from '../../observe/network-counters.ts';
import { startCompanions } from '../../targets/local/companions.ts';
import { findNamespaceTools, type Lab, openLab } from './lab/lab.ts';
import { DNS_PORT, resolverConfiguration, type SiteName, startResolvers } from './lab/resolvers.ts';
import type { LookupRequest, Place } from './place.ts';
import { portOf } from './plan.ts';
import type { PolicyMode } from './policy/modes.ts';
import type { LookupSettings } from './settings.ts';
import type { LookupSubject } from './subjects.ts';

/** SYN and SYN-ACK packets that the kernel repeated, in the text of /proc/net/netstat; null if it does not count them. */
export const synRepeatsIn = (netstat: string) => parseSnmp(netstat).get('TcpExt.TCPSynRetrans') ?? null;

const script = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SITE = script('./lab/site-program.mjs');
const AGENT = script('./policy/agent-program.mjs');

function resolvConf({ search = [], ndots }: LookupSettings, address: string): string {
  const domains = search.length === 0 ? '' : `search ${search.join(' ')}\n`;
  return `nameserver ${address}\n${domains}options ndots:${ndots}\n`;
}

function siteAddresses({ addresses, siteLink }: Lab, { ipv6 }: LookupSettings): string[] {
  if (siteLink !== null) return addresses.rotating.addresses.slice(0, 1);
  return ipv6 ? [addresses.site.ipv4, addresses.site.ipv6] : [addresses.site.ipv4];
}

/** What the agent is told; it stands between the pod and the resolver at `upstream`. */
function agentSettings(
  { decided, settings }: LookupRequest,
  { siteLink, addresses }: Lab,
  ip: string,
  mode: PolicyMode,
  upstream: string,
): string {
  if (siteLink === null) throw new Error('a policy without a link to the site');
  return JSON.stringify({
    mode,
    delaySeconds: settings.programDelay,
    host: decided.url.hostname,
    listen: { address: addresses.node, port: DNS_PORT },
    upstream: { address: upstream, port: DNS_PORT },
    addresses: addresses.rotating.addresses,
    interface: siteLink.interface,
    mac: siteLink.siteMac,
    ip,
  });
}

/** Makes everything; rejects, with nothing left, if a part of it cannot be started. */
export async function labPlace(
  request: LookupRequest,
): Promise<Pick<Opened<unknown>, 'programs' | 'provisioned'> & { readonly place: Place }> {
  const { world, decided, settings, display, signal } = request;
  const { servers, url } = decided;
  const logDirectory = join(request.directory, 'raw');
  const tools = await findNamespaceTools(world);
  const programs = await preparePrograms(
    world,
    servers,
    resolverConfiguration(settings),
    [],
    display,
    signal,
  );
  // Each step of closing is taken, even if another fails.
  await using made = new AsyncDisposableStack();
  const directory = await createRunDirectory(world);
  made.defer(() => world.fs.rm(directory, { recursive: true, force: true }));
  const hasPolicy = settings.simulatePolicy !== undefined;
  const lab = await openLab(world, {
    ...{ tools, directory, hasPolicy },
    hasIpv6: settings.ipv6,
    resolvers: servers.length,
  });
  made.use(lab);
  // In the SYN packets of the client.
  if (settings.ecn) await lab.pod.run(['/bin/sh', '-c', 'echo 1 > /proc/sys/net/ipv4/tcp_ecn']);
  const site: SiteName = { host: url.hostname, addresses: siteAddresses(lab, settings) };
  made.use(await startResolvers(lab, site, programs.programOf, logDirectory, request));
  const page = { name: 'site', script: SITE, arguments: [String(portOf(url))] };
  made.defer((await startCompanions(lab.site.world, [page], logDirectory)).stop);
  const prepare = async ({ resolver, policy }: LookupSubject) => {
    const prepared = new AsyncDisposableStack();
    const address = lab.addresses.resolver(resolver);
    await lab.setResolver(resolvConf(settings, policy === null ? address : lab.addresses.node));
    if (policy === null) return prepared;
    const told = agentSettings(request, lab, tools.ip, policy, address);
    const agent = { name: 'agent', script: AGENT, arguments: [told] };
    prepared.defer((await startCompanions(lab.node.world, [agent], logDirectory)).stop);
    return prepared;
  };
  const closing = made.move();
  const place: Place = {
    name: 'pod',
    enter: lab.pod.enter,
    addresses: site.addresses,
    taps: [{ interface: lab.podInterface, seesQueries: true, enter: lab.node.enter }],
    scope: 'namespace',
    siteRepeats: async () => synRepeatsIn((await lab.site.run(['cat', '/proc/net/netstat'])).stdout),
    prepare,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
  return { place, programs: programs.servers, provisioned: programs.provisioned };
}
