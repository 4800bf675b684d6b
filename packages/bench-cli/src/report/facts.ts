/** Facts about a run as rows of plain text, for every report that lists them. */
import type { RunRecord } from '../results/record.ts';
import { formatBytes, formatCpus } from './numbers.ts';

export type Fact = readonly [name: string, value: string];

function clusterFacts({ environment: { cluster } }: Pick<RunRecord, 'environment'>): Fact[] {
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

/** The machine, the program, the time. */
export function environmentFacts(record: Described): Fact[] {
  const { environment: host } = record;
  const buffer = host.socketReceiveBufferBytes;
  const commit =
    host.git === null ? '' : `, commit ${host.git.commit}${host.git.dirty ? ' with local changes' : ''}`;
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
    ['dinodns-bench', `${record.generator.version}${commit}`],
    ['Host', host.hostname],
    ['Run', `${record.id}, from ${record.startedAt} to ${record.endedAt ?? 'no end'}`],
  ];
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
