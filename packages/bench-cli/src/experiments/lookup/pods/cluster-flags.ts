/** The flags of `bench lookup --target kubernetes`, checked before anything starts. */
import type { Command } from 'commander';
import { z } from 'zod';
import { configure } from '../../../config/configuration.ts';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { BenchError } from '../../../errors.ts';
import { parseQuantity } from '../../../quantity.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { choicesOf, LOOKUP_DEFAULTS, type LookupFlags, lookupOptions, numberOf } from '../options.ts';
import { POLICY_MODES } from '../policy/modes.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { POLICY_KINDS } from './dns-policy.ts';

/** As commander gives them, beside those of every target. */
export interface ClusterFlags extends LookupFlags {
  readonly services?: string;
  readonly standingPods?: string;
  readonly stress?: boolean;
  readonly webAddress?: string;
  readonly policy?: string;
  readonly policyModes?: string;
  readonly calicoNodeCpu?: string;
  readonly nodes?: string;
  readonly image?: string;
  readonly context?: string;
  readonly pullPolicy?: string;
  readonly keep?: boolean;
  readonly leaseNamespace?: string;
  readonly lease?: string;
}

const DEFAULTS = { services: '0', leaseNamespace: 'kube-system', lease: '60' } as const;

/** As many as a range of Services of a large cluster holds. */
const MAX_SERVICES = 20_000;
const MAX_STANDING_PODS = 1000;

export function addClusterFlags(command: Command): Command {
  return command
    .option('--target <name>', 'where samples are taken: local (this machine) or kubernetes', 'local')
    .option(
      '--services <list>',
      `on a cluster: numbers of standing Services that are compared (default: ${DEFAULTS.services})`,
    )
    .option('--standing-pods <n>', 'on a cluster: further pods that only exist (default: 0)')
    .option('--stress', 'on a cluster: a Deployment goes from 0 to 24 pods and back every 10 s')
    .option(
      '--web-address <address>',
      'on a cluster: the web pods answer at this address, too: for a name without a server',
    )
    .option('--policy <kind>', `on a cluster: a policy by DNS name: ${POLICY_KINDS.join(', ')}`)
    .option(
      '--policy-modes <modes>',
      `with Calico Enterprise: modes that are compared: ${POLICY_MODES.join(', ')}`,
    )
    .option('--calico-node-cpu <quantity>', 'with Calico Enterprise: CPU limit of calico-node; 0 removes it')
    .option(
      '--nodes <selector>',
      'on a cluster: the nodes with a sampler pod: a name, or pool=dns (default: all)',
    )
    .option(
      '--image <image>',
      'on a cluster: image with curl, tcpdump and Node.js (default: that of the built-in loader)',
    )
    .option('--context <name>', 'on a cluster: context of the kubeconfig (default: its current one)')
    .option('--pull-policy <policy>', 'on a cluster: IfNotPresent, Always or Never')
    .option('--keep', "on a cluster: leave the run's namespace")
    .option(
      '--lease-namespace <name>',
      `on a cluster: namespace of the journal of changes (default: ${DEFAULTS.leaseNamespace})`,
    )
    .option(
      '--lease <time>',
      `on a cluster: after this without a sign of life, changes are put back (default: ${DEFAULTS.lease})`,
    );
}

/** Settings of the cluster from flags and environment. */
export function kubernetesSettings(
  world: Pick<World, 'env'>,
  { nodes, context, pullPolicy, keep, image }: ClusterFlags,
): KubernetesSettings {
  const flags = {
    ...(nodes === undefined ? {} : { loaderNode: nodes }),
    ...(context === undefined ? {} : { context }),
    ...(pullPolicy === undefined ? {} : { pullPolicy }),
    ...(image === undefined ? {} : { loaderImage: image }),
    ...(keep === true ? { keep } : {}),
  };
  return configure({ flags, env: world.env }).kubernetes;
}

/** The built-in loader's, in which everything is that a sampler pod needs. */
export function imageOf({ loaderImage }: KubernetesSettings): string {
  return loaderImage ?? `dinodns-bench/load:${BENCH_VERSION}`;
}

/** A CPU limit, `0` for none. @throws BenchError `E_USAGE` */
export function cpuLimit(label: string, text: string): string {
  const value = parseQuantity(text);
  if (value !== null && value >= 0) return text;
  throw new BenchError('E_USAGE', `${label}: "${text}" is not a quantity of CPU`, {
    fix: 'Give 500m or 2; 0 removes the limit.',
  });
}

function serviceCounts(text: string): number[] {
  const fix = `Give whole numbers up to ${MAX_SERVICES}, for example --services 0,1000.`;
  const counts = text
    .split(',')
    .map((part) => numberOf('--services', part.trim(), z.int().min(0).max(MAX_SERVICES), fix));
  return [...new Set(counts)];
}

/** What only makes sense elsewhere. */
function demandCluster({ local, policy, policyModes }: ClusterFlags): void {
  const usage = (message: string, fix: string) => new BenchError('E_USAGE', message, { fix });
  if (local === true) throw usage('--local and --target kubernetes exclude each other', 'Omit one.');
  if (policyModes !== undefined && policy === 'cilium') {
    throw usage(
      '--policy-modes are those of Calico Enterprise; Cilium has none',
      'Omit --policy-modes, or --policy cilium.',
    );
  }
}

export function isClusterTarget({ target = 'local' }: Pick<LookupFlags, 'target'>): boolean {
  return choicesOf('--target', target, ['local', 'kubernetes'])[0] === 'kubernetes';
}

export interface ClusterRunOptions extends ClusterOptions {
  readonly durationSeconds: number;
  readonly rounds: number;
}

/** @throws BenchError `E_USAGE`, one for the first problem */
export function clusterOptions(world: Pick<World, 'env'>, flags: ClusterFlags): ClusterRunOptions {
  demandCluster(flags);
  const { url, durationSeconds, rounds, paceSeconds, clients, capture } = lookupOptions({
    url: LOOKUP_DEFAULTS.url,
    ...flags,
  });
  const kubernetes = kubernetesSettings(world, flags);
  const { services = DEFAULTS.services, standingPods = '0', domains = '1', lease = DEFAULTS.lease } = flags;
  const { policy, policyModes, calicoNodeCpu } = flags;
  const modes = policyModes === undefined ? [] : choicesOf('--policy-modes', policyModes, POLICY_MODES);
  const kind = policy === undefined ? undefined : choicesOf('--policy', policy, POLICY_KINDS)[0];
  return {
    url,
    durationSeconds,
    rounds,
    trialSeconds: durationSeconds / rounds,
    paceSeconds: paceSeconds ?? 0,
    clients,
    capture,
    services: serviceCounts(services),
    standingPods: numberOf(
      '--standing-pods',
      standingPods,
      z.int().min(0).max(MAX_STANDING_PODS),
      `Give 0 to ${MAX_STANDING_PODS}.`,
    ),
    policies: { active: 0, idle: 0 },
    stress: flags.stress === true,
    webAddress: flags.webAddress ?? null,
    policy: kind ?? (modes.length > 0 ? 'calico' : null),
    modes,
    domains: numberOf(
      '--domains',
      domains,
      z.int().min(1),
      'Give 1 or more: the name of --url is the first.',
    ),
    nodeCpuLimit: calicoNodeCpu === undefined ? null : cpuLimit('--calico-node-cpu', calicoNodeCpu),
    image: imageOf(kubernetes),
    leaseNamespace: flags.leaseNamespace ?? DEFAULTS.leaseNamespace,
    leaseSeconds: numberOf('--lease', lease, z.number().min(10).max(600), 'Give 10 s to 10m.'),
    kubernetes,
  };
}
