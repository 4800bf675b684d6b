/** Facts about a run as rows of plain text, for every report that lists them. */
import { memoryQuantity } from '../quantity.ts';
import type { CaseRecord, RunRecord, WorkloadRecord } from '../results/record.ts';
import type { CpuLimitMethod } from '../results/record-environment.ts';
import { listed } from '../text.ts';
import { isAsFound } from './marks.ts';
import { formatBytes, formatCpus, formatShare } from './numbers.ts';

export type Fact = readonly [name: string, value: string];

/** None of a run on this machine. */
export function clusterFacts({ environment: { cluster } }: Pick<RunRecord, 'environment'>): Fact[] {
  if (cluster === null) return [];
  const nodes = cluster.nodes.map((node) => {
    const roles = node.roles.length === 0 ? '' : ` (${node.roles.join(', ')})`;
    return (
      `${node.name}${roles}: ${formatCpus(node.allocatableCpus)} CPUs, ${formatBytes(node.allocatableMemoryBytes)}, ` +
      `${node.os}, kernel ${node.kernel}, ${node.architecture}, ${node.containerRuntime}, kubelet ${node.kubeletVersion}`
    );
  });
  return [
    ['Kubernetes', `${cluster.version}${cluster.provider === null ? '' : ` on ${cluster.provider}`}`],
    ...(cluster.openshiftVersion == null ? [] : [['OpenShift', cluster.openshiftVersion] as const]),
    ...(cluster.server === undefined
      ? []
      : [['API server', `${cluster.server}, context ${cluster.context}`] as const]),
    ['Network plugin', `${cluster.cni ?? 'unknown'}, kube-proxy ${cluster.proxyMode ?? 'unknown'}`],
    ...nodes.map((text): Fact => ['Node', text]),
  ];
}

function counterFacts({ hardwareCounters }: RunRecord['environment']): Fact[] {
  if (hardwareCounters === undefined) return [];
  const { used, reason } = hardwareCounters;
  return [
    ['Hardware counters', used ? 'instructions, cycles and cache misses' : `none: ${reason ?? 'unknown'}`],
  ];
}

/** What a record of any experiment says of where and when. */
type Described = Pick<RunRecord, 'environment' | 'generator' | 'id' | 'startedAt' | 'endedAt'>;

/** Which bench it was: `0.1.0, commit … with local changes`. */
export function benchText({
  generator,
  environment: { git },
}: Pick<Described, 'generator' | 'environment'>): string {
  return `${generator.version}${git === null ? '' : `, commit ${git.commit}${git.dirty ? ' with local changes' : ''}`}`;
}

/** The machine, the program, the time. */
export function environmentFacts(record: Described): Fact[] {
  const { environment: host } = record;
  const buffer = host.socketReceiveBufferBytes;
  return [
    ['CPU', `${host.cpuModel}, ${host.cpuCores} cores, ${formatCpus(host.availableCpus)} usable`],
    ['CPU governor', host.cpuGovernor ?? 'unknown'],
    ['Memory', formatBytes(host.memoryBytes)],
    ['System', `${host.os}, kernel ${host.kernel}, ${host.architecture}`],
    ['Virtualization', host.virtualization ?? 'unknown'],
    ['Load average at the start', String(host.loadAverage)],
    ['Socket receive buffer', buffer === null ? 'unknown' : `${buffer.default} bytes, at most ${buffer.max}`],
    ['Node.js', host.nodeVersion],
    ...counterFacts(host),
    ...clusterFacts(record),
    ['dinodns-bench', benchText(record)],
    ['Host', host.hostname],
    ['Run', `${record.id}, from ${record.startedAt} to ${record.endedAt ?? 'no end'}`],
  ];
}

/** Of figures: `Medians of 7 interleaved trials of each, of CoreDNS 1.15.0 and NSD 4.9.1, on one machine (…).` */
export function originSentence(
  {
    cases,
    environment: host,
  }: Pick<RunRecord, 'environment'> & { readonly cases: readonly Pick<CaseRecord, 'trials'>[] },
  contestants: readonly string[],
  isOnCluster: boolean,
): string {
  const trials = Math.max(0, ...cases.map((item) => item.trials.ok));
  const virtual = host.virtualization === null || host.virtualization === 'none' ? '' : ', virtual';
  const where = isOnCluster
    ? `a Kubernetes cluster (${host.cluster?.version ?? 'unknown version'})`
    : `one machine (${host.cpuModel}, ${host.cpuCores} cores${virtual})`;
  const several = `${trials} interleaved trials of each`;
  const figures = trials === 1 ? 'One trial of each' : trials === 2 ? several : `Medians of ${several}`;
  return [figures, ...(contestants.length === 0 ? [] : [`of ${listed(contestants)}`]), `on ${where}.`].join(
    ', ',
  );
}

/** A setting's value as it would be typed. */
export function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.map(settingText).join(', ');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Number of the setting, or null where the record has none of that name. */
export function numberSetting({ configuration }: RunRecord, name: string): number | null {
  const value = configuration[name];
  return typeof value === 'number' ? value : null;
}

const CPU_LIMIT_WORDS: Readonly<Record<Exclude<CpuLimitMethod, 'none'>, string>> = {
  'cgroup-v2-quota': 'a CPU quota (cgroup v2)',
  'cgroup-v1-quota': 'a CPU quota (cgroup v1)',
  'systemd-scope': 'a CPU quota (systemd scope)',
  affinity: 'it is pinned to them',
  'pod-limit': 'the CPU limit of its pods',
};

/** Ways to exchange a cluster's DNS. */
const METHODS: Readonly<Record<string, string>> = {
  shadow: "a copy beside the cluster's own DNS (shadow)",
  'in-place': "the cluster's own DNS, changed and put back (in-place)",
};

/** A condition for people; the record has the method of CPU limits by its name, and a limit of memory in bytes. */
export function conditionText(name: string, value: string): string {
  if (name === 'method') return METHODS[value] ?? value;
  if (name === 'memory limit' && /^\d+$/.test(value)) return memoryQuantity(Number(value));
  const isMethod = name === 'CPU limits' && value.startsWith('cgroup-');
  return isMethod ? CPU_LIMIT_WORDS[value as 'cgroup-v2-quota'] : value;
}

function cpuLimitSentence({ cpuLimits }: RunRecord): string {
  const { method, reason } = cpuLimits;
  const because = reason === null ? '' : ` (${reason})`;
  if (method === 'none') return `CPU limits were not set${because}: here the tier is only a name.`;
  return `Each server may use as many CPUs as its tier says: ${CPU_LIMIT_WORDS[method]}${because}.`;
}

/** Servers that were running before are measured as they are. */
function startText(record: RunRecord): string {
  const found = record.servers.filter(({ name }) => isAsFound(record, name)).length;
  if (found === 0) return 'starts a fresh server, ';
  return found < record.servers.length ? 'starts a fresh server unless it was running before, ' : '';
}

/** `every name once in order; 200 distinct queries, 50% of them for records that exist, in 100 zones.` */
function describeWorkload(workload: WorkloadRecord, { zones }: RunRecord): string {
  const { description, distinctQueries, existingRatio } = workload;
  const share = `${formatShare(existingRatio)} of them for records that exist`;
  return `${description}; ${distinctQueries} distinct queries, ${share}, in ${zones} zones.`;
}

/** How the figures came about, in sentences. */
export function methodLines(record: RunRecord): string[] {
  const { workloads, loader } = record;
  const duration = numberSetting(record, 'duration');
  const warmup = numberSetting(record, 'warmup') ?? 0;
  return [
    ...(duration === null
      ? []
      : [
          `Each trial ${startText(record)}checks every distinct answer, warms up for ${warmup} s and measures for ${duration} s. A server that gives wrong answers is not measured.`,
        ]),
    'Trials of the servers are interleaved (A B C, C B A, …), so that a machine that becomes slower slows all of them; trials of the same round are compared in pairs.',
    ...workloads.map((workload) => `Workload ${workload.name}: ${describeWorkload(workload, record)}`),
    `Load came from ${loader.kind} ${loader.version}.`,
    cpuLimitSentence(record),
    record.intervalMethod,
  ];
}

/** What to type into a shell to repeat the run. */
export function repeatCommands({ environment: { git }, command }: RunRecord): string {
  return git === null ? command : `git checkout ${git.commit}\n${command}`;
}
