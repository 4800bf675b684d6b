/**
 * The laboratory of `--local`: a pod and a node, two network namespaces joined by a veth pair. The resolvers and the site
 * are on the node. Where a policy is simulated, the site has a third namespace behind the node, which forwards, so that
 * the agent on the node can withhold packets.
 */
import { join } from 'node:path';
import { BenchError } from '../../../errors.ts';
import { findDaemon } from '../../../machine/find-executable.ts';
import { runToEnd } from '../../../process.ts';
import type { World } from '../../../world.ts';
import { LAB_NETWORKS, type LabAddresses, labAddresses } from './addresses.ts';
import { demandSuccess, type Namespace, type NamespaceTools, openNamespace } from './namespace.ts';

export interface LabRequest {
  readonly tools: NamespaceTools;
  /** A directory of the run; the resolver's files are kept in it. */
  readonly directory: string;
  /** Whether a policy is simulated. */
  readonly hasPolicy: boolean;
  /** The pod and the site have IPv6 addresses. */
  readonly hasIpv6: boolean;
  /** How many resolvers get an address on the node. */
  readonly resolvers: number;
}

export interface Lab extends AsyncDisposable {
  readonly addresses: LabAddresses;
  readonly pod: Namespace;
  readonly node: Namespace;
  /** Where the site answers: the node, or a namespace behind it. */
  readonly site: Namespace;
  /** The node's end of the link to the pod. */
  readonly podInterface: string;
  /** The node's end of the link to the site, where there is one, and the site's Ethernet address. */
  readonly siteLink: { readonly interface: string; readonly siteMac: string } | null;
  /** Replaces the pod's resolv.conf. */
  setResolver(text: string): Promise<void>;
}

export const POD_INTERFACE = 'pod0';
const SITE_INTERFACE = 'site0';

/** The programs that namespaces need, and root. @throws BenchError `E_TOOL_MISSING` or `E_LIMITS_UNAVAILABLE` */
export async function findNamespaceTools(world: World): Promise<NamespaceTools> {
  if (world.machine.userId !== 0) {
    throw new BenchError(
      'E_LIMITS_UNAVAILABLE',
      '--local makes network namespaces, for which bench must be root',
      {
        fix: 'Run it with sudo. Without --local, this machine is measured as it is, which needs no rights.',
      },
    );
  }
  const find = async (name: string, packageName: string) => {
    const path = await findDaemon(world, name);
    if (path !== null) return path;
    throw new BenchError('E_TOOL_MISSING', `--local needs ${name}, which is not there`, {
      fix: `Install ${packageName}.`,
    });
  };
  return {
    ip: await find('ip', 'iproute2'),
    unshare: await find('unshare', 'util-linux'),
    nsenter: await find('nsenter', 'util-linux'),
    setpriv: await find('setpriv', 'util-linux'),
  };
}

/** `ip -batch -` with these commands, in a namespace. */
async function ipIn(
  namespace: Namespace,
  { ip }: NamespaceTools,
  commands: readonly string[],
): Promise<void> {
  await namespace.run([ip, '-batch', '-'], `${commands.join('\n')}\n`);
}

async function writeIn(namespace: Namespace, path: string, text: string): Promise<void> {
  await namespace.run(['/bin/sh', '-c', 'printf %s "$2" > "$1"', 'write', path, text]);
}

async function macOf(namespace: Namespace, { ip }: NamespaceTools, name: string): Promise<string> {
  const { stdout } = await namespace.run([ip, '-brief', 'link', 'show', 'dev', name]);
  const mac = /([0-9a-f]{2}:){5}[0-9a-f]{2}/.exec(stdout)?.[0];
  if (mac === undefined) throw new Error(`no Ethernet address of ${name} in: ${stdout}`);
  return mac;
}

/** The link from the machine to the node. Finds a network that nothing on the machine uses. */
async function joinMachine(world: World, tools: NamespaceTools, node: Namespace): Promise<LabAddresses> {
  const name = `bench${world.processes.ownPid.toString(36)}`.slice(0, 15);
  const ip = (...words: readonly string[]) => [tools.ip, ...words];
  await demandSuccess(world, [
    ...ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'bench0'),
    ...['netns', String(node.pid)],
  ]);
  await demandSuccess(world, ip('link', 'set', name, 'up'));
  await ipIn(node, tools, ['link set lo up', 'link set bench0 up']);
  for (let index = 0; index < LAB_NETWORKS; index += 1) {
    const addresses = labAddresses(index);
    const { machine, node: peer } = addresses.bench;
    const added = await runToEnd(world, ip('route', 'add', addresses.podNetwork, 'dev', name));
    if (added.code !== 0) continue;
    await demandSuccess(world, ip('address', 'add', `${machine}/30`, 'dev', name));
    await demandSuccess(world, ip('route', 'replace', addresses.podNetwork, 'via', peer, 'dev', name));
    await ipIn(node, tools, [`address add ${peer}/30 dev bench0`]);
    return addresses;
  }
  throw new BenchError('E_LIMITS_UNAVAILABLE', 'all networks of 198.18.0.0/16 have routes on this machine', {
    fix: 'End other runs of `bench lookup --local`, or remove routes of 198.18.0.0/15 (`ip route`).',
  });
}

async function joinPod(
  tools: NamespaceTools,
  {
    pod,
    node,
    addresses,
    hasIpv6,
  }: { pod: Namespace; node: Namespace; addresses: LabAddresses; hasIpv6: boolean },
): Promise<void> {
  await ipIn(node, tools, [
    `link add ${POD_INTERFACE} type veth peer name eth0 netns ${pod.pid}`,
    `link set ${POD_INTERFACE} up`,
    `address add ${addresses.node}/24 dev ${POD_INTERFACE}`,
    ...(hasIpv6 ? [`address add ${addresses.node6}/64 dev ${POD_INTERFACE} nodad`] : []),
  ]);
  await ipIn(pod, tools, [
    'link set lo up',
    'link set eth0 up',
    `address add ${addresses.pod}/24 dev eth0`,
    `route add default via ${addresses.node}`,
    ...(hasIpv6
      ? [`address add ${addresses.pod6}/64 dev eth0 nodad`, `route add default via ${addresses.node6}`]
      : []),
  ]);
}

/**
 * The site behind the node, at all addresses of its network. Neither side asks for the other's Ethernet address: as long as
 * the node does not know it, the kernel holds packets, which is how the agent can hold them. It would give up after
 * `mcast_solicit` seconds.
 */
async function siteBehindNode(
  tools: NamespaceTools,
  node: Namespace,
  site: Namespace,
  addresses: LabAddresses,
) {
  const { siteLink, rotating } = addresses;
  await ipIn(node, tools, [
    `link add ${SITE_INTERFACE} type veth peer name eth0 netns ${site.pid}`,
    `link set ${SITE_INTERFACE} up`,
    `address add ${siteLink.node}/30 dev ${SITE_INTERFACE}`,
    `route add ${rotating.network} dev ${SITE_INTERFACE}`,
  ]);
  await writeIn(node, '/proc/sys/net/ipv4/ip_forward', '1');
  await writeIn(node, `/proc/sys/net/ipv4/neigh/${SITE_INTERFACE}/mcast_solicit`, '60');
  const nodeMac = await macOf(node, tools, SITE_INTERFACE);
  await ipIn(site, tools, [
    'link set lo up',
    'link set eth0 up',
    `address add ${siteLink.site}/30 dev eth0`,
    'link set eth0 arp off',
    `neigh replace ${siteLink.node} lladdr ${nodeMac} dev eth0 nud permanent`,
    `route add default via ${siteLink.node}`,
    `route add local ${rotating.network} dev lo`,
  ]);
  return { interface: SITE_INTERFACE, siteMac: await macOf(site, tools, 'eth0') };
}

/** Names come from DNS alone: not from daemons of the machine, which are outside the namespace. */
const NSSWITCH = 'passwd: files\ngroup: files\nhosts: files dns\n';

/** Makes it. Its disposal removes everything; so does the kernel if bench is killed. */
export async function openLab(world: World, request: LabRequest): Promise<Lab> {
  const { tools, directory, hasPolicy, hasIpv6, resolvers } = request;
  const [resolvConf, nsswitch] = [join(directory, 'resolv.conf'), join(directory, 'nsswitch.conf')];
  await world.fs.writeFile(resolvConf, '');
  await world.fs.writeFile(nsswitch, NSSWITCH);
  await using open = new AsyncDisposableStack();
  const namespace = async (name: string, files: Readonly<Record<string, string>> = {}) =>
    open.use(await openNamespace(world, tools, name, files));
  const pod = await namespace('pod', { '/etc/resolv.conf': resolvConf, '/etc/nsswitch.conf': nsswitch });
  const node = await namespace('node');
  const addresses = await joinMachine(world, tools, node);
  await joinPod(tools, { pod, node, addresses, hasIpv6 });
  const site = hasPolicy ? await namespace('site') : node;
  const siteLink = hasPolicy ? await siteBehindNode(tools, node, site, addresses) : null;
  // The resolvers, and the site beside them unless it is behind the node.
  const own = Array.from({ length: resolvers }, (_, index) => addresses.resolver(index));
  await ipIn(node, tools, [
    ...[...own, ...(hasPolicy ? [] : [addresses.site.ipv4])].map((ip) => `address add ${ip}/32 dev lo`),
    ...(hasIpv6 && !hasPolicy ? [`address add ${addresses.site.ipv6}/128 dev lo nodad`] : []),
  ]);
  const opened = open.move();
  return {
    ...{ addresses, pod, node, site, siteLink, podInterface: POD_INTERFACE },
    setResolver: (text) => world.fs.writeFile(resolvConf, text),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
