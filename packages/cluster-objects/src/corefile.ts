/** The Corefile that clusters run, with what a run on one machine must change. */
import { ClusterError } from './errors.ts';

export interface CorefileOptions {
  /** The API server's address for the `kubernetes` plugin: `http://127.0.0.1:8001`. Default: none, as in a pod. */
  readonly endpoint?: string;
  /** Where other names are asked: `127.0.0.1:5301` or a file such as the default, /etc/resolv.conf. */
  readonly upstream?: string;
  /** Default 53. */
  readonly port?: number;
  /** The only address to listen at; default: all. */
  readonly address?: string;
  /** The cluster's zone; default `cluster.local`. */
  readonly domain?: string;
  /** `insecure` (default) answers for any address; `verified` reads all pods, which autopath needs; or `disabled`. */
  readonly pods?: 'insecure' | 'verified' | 'disabled';
  /**
   * Answers the first query of a search list with the last one's answer. `@kubernetes` finds the client's namespace by
   * its source address, and so needs `pods: 'verified'`; a path names a file like resolv.conf. Default: not used.
   */
  readonly autopath?: string;
  /**
   * `on` (default): `cache 30`; `no-denial`: without negative answers; `kubeadm`: as kubeadm writes it since 1.33, without
   * the cluster's own names; `off`.
   */
  readonly cache?: 'on' | 'no-denial' | 'kubeadm' | 'off';
  /** Seconds that it goes on after SIGTERM (`health { lameduck 5s }`); default 5, 0 for none. */
  readonly lameduckSeconds?: number;
  /** Where `health`, `ready` and `prometheus` listen; the defaults are those of the plugins: :8080, :8181 and :9153. */
  readonly health?: string;
  readonly ready?: string;
  readonly metrics?: string;
}

/** Text that is one word in a Corefile. */
const WORD = /^[^\s{}"`\\#]+$/;

const CACHES = {
  on: ['cache 30'],
  'no-denial': ['cache 30 {', '   disable denial', '}'],
  off: [],
} as const;

function cacheOf(cache: CorefileOptions['cache'], domain: string): readonly string[] {
  if (cache !== 'kubeadm') return CACHES[cache ?? 'on'];
  return ['cache 30 {', `   disable success ${domain}`, `   disable denial ${domain}`, '}'];
}

function kubernetesOf({ endpoint, pods = 'insecure' }: CorefileOptions, domain: string): string[] {
  return [
    `kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    ...(endpoint === undefined ? [] : [`   endpoint ${endpoint}`]),
    `   pods ${pods}`,
    '   fallthrough in-addr.arpa ip6.arpa',
    '   ttl 30',
    '}',
  ];
}

function checkWords(options: CorefileOptions): void {
  const { endpoint, upstream, address, domain, autopath, health, ready, metrics } = options;
  const words = { endpoint, upstream, address, domain, autopath, health, ready, metrics };
  const problems = Object.entries(words)
    .filter(([, value]) => value !== undefined && !WORD.test(value))
    .map(([name, value]) => ({
      problem: `${name} cannot be ${JSON.stringify(value)}: a Corefile has no way to write it`,
      fix: 'give a word without spaces, braces, quotes and backslashes',
    }));
  if (autopath === '@kubernetes' && options.pods !== 'verified') {
    const problem = `autopath @kubernetes needs to know every pod, but pods are ${options.pods ?? 'insecure'}`;
    problems.push({ problem, fix: 'set pods to verified, or autopath to a file like /etc/resolv.conf' });
  }
  if (problems.length > 0) throw new ClusterError('E_COREFILE', 'the Corefile', problems);
}

/** The text of the Corefile. @throws ClusterError `E_COREFILE` */
export function renderCorefile(options: CorefileOptions = {}): string {
  checkWords(options);
  const { upstream = '/etc/resolv.conf', port = 53, address, domain = 'cluster.local', autopath } = options;
  const { lameduckSeconds = 5, health = ':8080', ready = ':8181', metrics = ':9153' } = options;
  const lines = [
    ...(address === undefined ? [] : [`bind ${address}`]),
    'errors',
    ...(lameduckSeconds === 0
      ? [`health ${health}`]
      : [`health ${health} {`, `   lameduck ${lameduckSeconds}s`, '}']),
    `ready ${ready}`,
    ...(autopath === undefined ? [] : [`autopath ${autopath}`]),
    ...kubernetesOf(options, domain),
    `prometheus ${metrics}`,
    `forward . ${upstream} {`,
    '   max_concurrent 1000',
    '}',
    ...cacheOf(options.cache, domain),
    'loop',
    'reload',
    'loadbalance',
  ];
  return serverBlock('.', port, lines);
}

function serverBlock(zone: string, port: number, lines: readonly string[]): string {
  return `${zone}:${port} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
}

export interface NodeLocalOptions {
  /** The cluster's DNS, which is asked over TCP for what is not in the cache: `127.0.0.1:5300`. */
  readonly clusterDns: string;
  /** Where all other names are asked. */
  readonly upstream: string;
  readonly address: string;
  readonly port: number;
  /** Where `health` and `prometheus` listen. */
  readonly health: string;
  readonly metrics: string;
  /** The cluster's zone; default `cluster.local`. */
  readonly domain?: string;
}

/**
 * The Corefile of NodeLocal DNSCache (`cluster/addons/dns/nodelocaldns/nodelocaldns.yaml` of Kubernetes), with addresses of
 * one machine: one server block each for the cluster's names, for both reverse zones, and for all others.
 * @throws ClusterError `E_COREFILE`
 */
export function renderNodeLocalCorefile(options: NodeLocalOptions): string {
  const { clusterDns, upstream, address, port, health, metrics, domain = 'cluster.local' } = options;
  checkWords({ endpoint: clusterDns, upstream, address, health, metrics, domain });
  const toCluster = [`forward . ${clusterDns} {`, '   force_tcp', '}'];
  const block = (
    zone: string,
    cache: readonly string[],
    forward: readonly string[],
    more: readonly string[],
  ) =>
    serverBlock(zone, port, [
      'errors',
      ...cache,
      'reload',
      'loop',
      `bind ${address}`,
      ...forward,
      `prometheus ${metrics}`,
      ...more,
    ]);
  const clusterCache = ['cache {', '   success 9984 30', '   denial 9984 5', '}'];
  return [
    block(domain, clusterCache, toCluster, [`health ${health}`]),
    block('in-addr.arpa', CACHES.on, toCluster, []),
    block('ip6.arpa', CACHES.on, toCluster, []),
    block('.', CACHES.on, [`forward . ${upstream}`], []),
  ].join('');
}
