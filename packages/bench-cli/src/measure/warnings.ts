/** What a reader of the figures must know about how they were measured. Pure. */
import type { RunConfiguration } from '../config/configuration.ts';
import type { Plan, PlannedCase } from '../plan/plan.ts';
import type { Environment, RunRecord, ServerRecord } from '../results/record.ts';
import { placeText } from '../servers/at/place.ts';
import type { Server } from '../servers/server.ts';
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import { listed } from '../text.ts';
import type { LoaderChoice } from './session.ts';

/**
 * Memory that the kernel charges a socket for one small datagram, payload and bookkeeping: measured on
 * Linux 6.x, 212,992 bytes hold a little over 200 queries.
 */
const BYTES_PER_SMALL_DATAGRAM = 1024;

/** @param cpus how many there are, and which */
function contendedWarnings(plan: Plan, loaders: string, cpus: string): string[] {
  const contended = plan.cases.filter((planned) => planned.contended);
  if (contended.length === 0) return [];
  const tiers = [...new Set(contended.map(({ tier, mode }) => `${tier} ${mode}`))].join(', ');
  return [
    `servers and ${loaders} of tier ${tiers} need more than the ${cpus}: marked "contended"; these figures do not describe the servers alone`,
  ];
}

export function runWarnings(
  configuration: RunConfiguration,
  plan: Plan,
  environment: Environment,
  cpuLimits: RunRecord['cpuLimits'],
): string[] {
  const warnings: string[] = [];
  if (cpuLimits.reason !== null) {
    warnings.push(`CPU limits are set by ${cpuLimits.method}, not as asked: ${cpuLimits.reason}`);
  }
  const { method } = cpuLimits;
  const isFraction = ({ allowances }: PlannedCase) => allowances.some((cores) => !Number.isInteger(cores));
  const fractions = [...new Set(plan.cases.filter(isFraction).map(({ tier }) => tier))];
  if (fractions.length > 0 && (method === 'affinity' || method === 'none')) {
    warnings.push(
      `tier ${fractions.join(', ')} was not enforced: ${method === 'none' ? 'there is no limit' : 'affinity works in whole CPUs'}, so the servers had more CPU than the tier says`,
    );
  }
  warnings.push(...contendedWarnings(plan, 'loaders', `${environment.availableCpus} available CPUs`));
  const buffer = environment.socketReceiveBufferBytes?.default;
  const capacity =
    buffer === undefined ? Number.POSITIVE_INFINITY : Math.floor(buffer / BYTES_PER_SMALL_DATAGRAM);
  if (configuration.transports.includes('udp') && configuration.outstanding > capacity) {
    warnings.push(
      `${configuration.outstanding} queries in flight can overrun a socket's default receive buffer, which holds about ${capacity} small datagrams: losses may be due to the buffer, not the server`,
    );
  }
  return warnings;
}

/** Says that the built-in loader was used without being requested, for readers who compare with dnsperf's figures. */
export function loaderWarnings(choice: LoaderChoice): string[] {
  return choice.kind === 'builtin' && choice.reason !== null
    ? [`using the built-in loader, because ${choice.reason}: do not compare its figures with dnsperf's`]
    : [];
}

/** Servers that run without the part that makes them fast. */
export function serverWarnings(servers: readonly ServerRecord[]): string[] {
  return servers
    .filter(({ components }) => components.udp === 'dgram')
    .map(
      ({ title }) =>
        `${title} ran without its native sockets, with one system call for each datagram: these are not its usual figures (\`dinodns-server --udp-backend native\` says why)`,
    );
}

/** What a reader of a cluster's figures must know, in addition to the target's own warnings. */
export function clusterWarnings(
  plan: Plan,
  sharedCpus: number,
  observation: ClusterRun['observation'],
): string[] {
  const warnings: string[] = [];
  if (plan.duet !== null && observation === 'metrics') {
    warnings.push(
      'CPU and memory of a duet are missing: the metrics API has means over some 15 seconds, in which the load goes from server to server',
    );
  }
  warnings.push(...contendedWarnings(plan, 'the loader', `${sharedCpus} CPUs of the machine they share`));
  return warnings;
}

/** Differences between the machine of an interrupted run and this one, as warnings. */
export function resumeWarnings(before: Environment, now: Environment): string[] {
  const fields = ['hostname', 'kernel', 'cpuModel', 'cpuCores', 'availableCpus', 'nodeVersion'] as const;
  return fields.flatMap((field) =>
    before[field] === now[field]
      ? []
      : [`resumed where ${field} is ${now[field]}, not ${before[field]} as before`],
  );
}

/** Says of servers that were running before what their rows in the tables do not. */
export function existingWarnings(servers: readonly Server[]): string[] {
  return servers.flatMap(({ name, existing }) => {
    if (existing?.kind !== 'address') return [];
    const cpu =
      existing.observed === null
        ? 'no process or control group of it was named (/pid=… or /cgroup=…), so its CPU and memory are not known'
        : `its CPU and memory are those of ${'pid' in existing.observed ? `process ${existing.observed.pid} and its descendants` : existing.observed.cgroup}`;
    return [
      `${name} was measured as it was found at ${placeText(existing)}: bench set no CPU limit, so tier and mode say nothing about it; ${cpu}`,
    ];
  });
}

/** Says which servers have only the names of a cluster that are asked for, beside one that reads all of it. */
export function clusterNameWarnings(servers: readonly Server[]): string[] {
  const fromFiles = servers.filter(({ answersNamesOf }) => answersNamesOf === 'zones-of-generated-cluster');
  const isBeside = servers.some(({ companions }) => companions !== undefined);
  return fromFiles.length === 0 || !isBeside
    ? []
    : [
        `${listed(fromFiles.map(({ name }) => name))}: only the records that are asked for, in zone files, where CoreDNS reads the whole cluster; compare rates and CPU, not memory`,
      ];
}

/** Says that nothing is known of the answers but that they stayed the same. */
export function answerWarnings({ answers }: Pick<RunConfiguration, 'answers'>): string[] {
  return answers === 'stable'
    ? [
        'answers were not compared with known right ones (--answers stable): each server was asked every query once before, and the response codes under load were the same',
      ]
    : [];
}
