/** The laboratory as the place of samples: its resolvers, its site, and a simulated policy agent. */
import { fileURLToPath } from 'node:url';
import { createRunDirectory } from '../../machine/run-directory.ts';
import type { Programs } from '../../measure/session.ts';
import type { Server } from '../../servers/server.ts';
import { startCompanions } from '../../targets/local/companions.ts';
import type { World } from '../../world.ts';
import { synRepeatsIn } from './kernel-counter.ts';
import { addResolvers, findNamespaceTools, type Lab, openLab } from './lab/lab.ts';
import { type SiteName, startResolvers } from './lab/resolvers.ts';
import type { Place } from './place.ts';
import type { PolicyMode } from './policy/modes.ts';
import type { LookupSettings } from './settings.ts';
import type { LookupSubject } from './subjects.ts';

export interface LabPlaceRequest {
  readonly world: World;
  readonly servers: readonly Server[];
  readonly programOf: Programs['programOf'];
  readonly host: string;
  readonly port: number;
  readonly settings: LookupSettings;
  readonly logDirectory: string;
  readonly signal: AbortSignal;
  readonly force: AbortSignal;
}

const script = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SITE = script('./lab/site-program.mjs');
const AGENT = script('./policy/agent-program.mjs');
const DNS_PORT = 53;

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
  { host, settings }: LabPlaceRequest,
  { siteLink, addresses }: Lab,
  ip: string,
  mode: PolicyMode,
  upstream: string,
): string {
  if (siteLink === null) throw new Error('a policy without a link to the site');
  return JSON.stringify({
    mode,
    delaySeconds: settings.programDelay,
    host,
    listen: { address: addresses.node, port: DNS_PORT },
    upstream: { address: upstream, port: DNS_PORT },
    addresses: addresses.rotating.addresses,
    interface: siteLink.interface,
    mac: siteLink.siteMac,
    ip,
  });
}

/** Makes everything; rejects, with nothing left, if a part of it cannot be started. */
export async function labPlace(request: LabPlaceRequest): Promise<Place> {
  const { world, servers, settings, logDirectory } = request;
  const tools = await findNamespaceTools(world);
  // Each step of closing is taken, even if another fails.
  await using made = new AsyncDisposableStack();
  const directory = await createRunDirectory(world);
  made.defer(() => world.fs.rm(directory, { recursive: true, force: true }));
  const hasPolicy = settings.simulatePolicy !== undefined;
  const lab = await openLab(world, { directory, hasPolicy, hasIpv6: settings.ipv6 });
  made.use(lab);
  // In the SYN packets of the client.
  if (settings.ecn) await lab.pod.run(['/bin/sh', '-c', 'echo 1 > /proc/sys/net/ipv4/tcp_ecn']);
  await addResolvers(lab, tools, servers.length);
  const site: SiteName = { host: request.host, addresses: siteAddresses(lab, settings) };
  made.use(await startResolvers({ ...request, lab, site }));
  const page = { name: 'site', script: SITE, arguments: [String(request.port)] };
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
  return {
    name: 'pod',
    enter: lab.pod.enter,
    addresses: site.addresses,
    taps: [{ interface: lab.podInterface, enter: lab.node.enter }],
    scope: 'namespace',
    siteRepeats: async () => synRepeatsIn((await lab.site.run(['cat', '/proc/net/netstat'])).stdout),
    prepare,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
