/** The settings of `bench capacity plan`, and what they and a cluster say together. */
import { z } from 'zod';
import type { Setting, SettingsOf, SettingTable } from '../../config/setting.ts';
import { SETTINGS } from '../../config/settings.ts';
import { numberFromText, quantityFromText, text, wholeNumber } from '../../config/value-schemas.ts';
import { BenchError } from '../../errors.ts';
import { CLUSTER_SETTINGS } from './cluster/settings.ts';
import type { ClusterCounts } from './cluster-counts.ts';
import type { Demand } from './plan-record.ts';

/** More than any cluster has. */
const MOST = 1_000_000_000;

const amountMessage = 'must be an amount of memory as Kubernetes writes it, for example 170Mi';
const amount = z.preprocess(quantityFromText, z.number(amountMessage).positive(amountMessage));

const yes = z.boolean('must be true or false');

/** A count from `least`. */
const count = (least: number) => wholeNumber(least, MOST);

/** Without `--target`, which says where a plan is verified: the others also say which cluster is counted. */
const { target: _target, context, ...ON_CLUSTER } = CLUSTER_SETTINGS;

const needs: Setting['needs'] = { give: '--verify', met: ({ verify }) => verify === true };

/** Settings that only a verification has. */
function verifying<const T extends SettingTable>(table: T): T {
  const limited = Object.entries(table).map(([name, setting]) => [name, { ...setting, needs }]);
  // With the same schemas and defaults.
  return Object.fromEntries(limited) as T;
}

const PLAN_CLUSTER_SETTINGS = {
  context,
  ...verifying({
    ...ON_CLUSTER,
    maxObjects: { ...ON_CLUSTER.maxObjects, targets: ['local', 'kubernetes'] },
  }),
} as const satisfies Record<string, Setting>;

export const PLAN_SETTINGS = {
  pods: { flag: '--pods <n>', description: 'pods of the cluster', schema: count(0) },
  services: { flag: '--services <n>', description: 'services of the cluster', schema: count(0) },
  endpoints: {
    flag: '--endpoints <n>',
    description: 'addresses behind the services (default: every pod is behind one service)',
    schema: count(0),
  },
  fromCluster: {
    flag: '--from-cluster',
    description: 'count pods, services and nodes, and read the DNS pods (read rights only)',
    schema: yes,
    default: false,
  },
  lookupsInternal: {
    flag: '--lookups-internal <n>',
    description: 'lookups of names of the cluster, per second',
    schema: count(0),
    default: 0,
  },
  lookupsExternal: {
    flag: '--lookups-external <n>',
    description: 'lookups of other names, per second',
    schema: count(0),
    default: 0,
  },
  autopath: {
    flag: '--autopath',
    description: 'CoreDNS has the autopath plugin and watches pods',
    schema: yes,
  },
  families: {
    flag: '--families <n>',
    description: '1: programs ask for A; 2: for A and AAAA',
    schema: z.preprocess(
      numberFromText,
      z.union([z.literal(1), z.literal(2)], 'must be 1 or 2: for A only, or for A and AAAA'),
    ),
    default: 2,
  },
  searchDomains: {
    flag: '--search-domains <n>',
    description: 'domains of the search list',
    schema: count(0),
    // As `dnsPolicy: ClusterFirst` makes them: three of the cluster, and one of the node.
    default: 4,
  },
  memoryLimit: {
    flag: '--memory-limit <quantity>',
    description: 'memory limit of the DNS pods today: 170Mi',
    schema: amount,
  },
  replicas: { flag: '--replicas <n>', description: 'DNS pods today', schema: count(1) },
  nodes: { flag: '--nodes <n>', description: 'nodes of the cluster', schema: count(1) },
  basis: {
    flag: '--basis <run>',
    description:
      "a run of bench capacity memory, survive or throughput, several (RUN+RUN), or published (default: the cluster's or this machine's newest that fit)",
    schema: text,
  },
  chart: { flag: '--chart <file>', description: 'write memory against objects as an SVG', schema: text },
  extrapolate: {
    flag: '--extrapolate',
    description: 'plan for more than twice the objects that were measured',
    schema: yes,
    default: false,
  },
  verify: {
    flag: '--verify',
    description: 'start the recommended CoreDNS with objects and queries, and check that it holds',
    schema: yes,
    default: false,
  },
  verifyLimit: {
    flag: '--verify-limit <quantity>',
    description: 'verify this memory limit instead of the recommended one: 120Mi',
    schema: amount,
    needs,
  },
  corednsVersion: {
    flag: SETTINGS.corednsVersion.flag,
    description: 'version of CoreDNS to plan for and to verify',
    schema: SETTINGS.corednsVersion.schema,
  },
  out: SETTINGS.out,
  ...PLAN_CLUSTER_SETTINGS,
} as const satisfies Record<string, Setting>;
export type PlanSettings = SettingsOf<typeof PLAN_SETTINGS>;

/** That may come from the environment: the others have the names of settings that mean something else elsewhere. */
export const FROM_ENVIRONMENT: SettingTable = { out: SETTINGS.out, ...PLAN_CLUSTER_SETTINGS };

/** Where pods and services come from. */
function sourceOf({ pods, services }: PlanSettings, counted: string | undefined): string {
  const given = [pods === undefined ? '' : 'pods', services === undefined ? '' : 'services'].filter(Boolean);
  if (counted === undefined || given.length === 2) return 'given';
  return given.length === 0 ? counted : `${given[0]} given, the rest ${counted}`;
}

/** @throws BenchError `E_USAGE` for too little, and for endpoints that belong to nothing. */
export function demandOf(settings: PlanSettings, cluster: ClusterCounts | null): Demand {
  const { pods = cluster?.pods, services = cluster?.services } = settings;
  if (pods === undefined || services === undefined) {
    throw new BenchError('E_USAGE', 'a plan needs the number of pods and of services', {
      fix: 'Give --pods and --services, or --from-cluster to count them.',
    });
  }
  const isCounted = settings.pods === undefined && settings.services === undefined;
  // Those that there are now belong to the pods and services that there are now.
  const endpoints = settings.endpoints ?? (isCounted ? cluster?.endpoints : null) ?? null;
  if (endpoints !== null && endpoints > 0 && (pods === 0 || services === 0)) {
    throw new BenchError(
      'E_USAGE',
      `--endpoints: ${endpoints} endpoints need pods and services, but there are ${pods} pods and ${services} services`,
      { fix: 'Give at least one of each, or no endpoints.' },
    );
  }
  const autopath = settings.autopath ?? cluster?.autopath ?? false;
  return {
    pods,
    services,
    endpoints,
    source: sourceOf(settings, cluster?.source),
    internalLookups: settings.lookupsInternal,
    externalLookups: settings.lookupsExternal,
    autopath,
    ...(cluster?.watchesPods === true && !autopath ? { watchesPods: true as const } : {}),
    families: settings.families,
    searchDomains: settings.searchDomains,
    memoryLimitBytes: settings.memoryLimit ?? cluster?.memoryLimitBytes ?? null,
    replicas: settings.replicas ?? cluster?.replicas ?? null,
    nodes: settings.nodes ?? cluster?.nodes ?? null,
  };
}
