/** What the pods of a cluster run used, and how evenly they were loaded. Empty for runs on one machine. */
import type { CaseRecord, OkTrial, RunRecord } from '../results/record.ts';
import { furtherPoint, serverTitle } from './cases.ts';
import { blocks, plain, table } from './markdown-text.ts';
import { okTrialsByCase, UNEVEN_FROM, unevenness } from './marks.ts';
import { formatCpus, formatFixed, formatMebibytes } from './numbers.ts';
import { formatThrottled, THROTTLED_EXPLANATION, throttledShareOf } from './throttling.ts';

const NOTHING = '–';

const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
const most = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values));
const shown = (value: number | null, format: (value: number) => string) =>
  value === null ? NOTHING : format(value);
const cores = (value: number) => formatFixed(value, 2);

/** `bench-node` or `2 on a, 1 on b`. */
function places(trials: readonly OkTrial[]): string {
  const nodes = trials[0]?.instances.map(({ node }) => node ?? 'unknown') ?? [];
  const counts = Map.groupBy(nodes, (node) => node);
  return [...counts].map(([node, list]) => `${list.length} on ${node}`).join(', ');
}

function row(record: RunRecord, item: CaseRecord, trials: readonly OkTrial[]): string[] {
  const servers = trials.flatMap(({ server }) => server ?? []);
  const memory = servers.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return [
    plain(serverTitle(record, item.server)),
    formatCpus(item.tier),
    plain([item.mode, ...furtherPoint(record, item)].join(', ')),
    plain(places(trials)),
    shown(mean(servers.map(({ cpuCores }) => cpuCores)), cores),
    shown(
      most(
        servers.flatMap(({ samples, cpuCores }) => [cpuCores, ...samples.map((sample) => sample.cpuCores)]),
      ),
      cores,
    ),
    shown(mean(memory.map((bytes) => bytes.mean)), formatMebibytes),
    shown(most(memory.map((bytes) => bytes.max)), formatMebibytes),
    shown(throttledShareOf(trials), formatThrottled),
    shown(mean(trials.flatMap((trial) => unevenness(trial) ?? [])), (value) => `${formatFixed(value, 2)} ×`),
  ];
}

/** What the figures can and cannot show, given their source. */
function resolution(trials: readonly OkTrial[]): string {
  const servers = trials.flatMap(({ server }) => server ?? []);
  const interval = formatFixed(
    mean(servers.map(({ sampleIntervalSeconds }) => sampleIntervalSeconds)) ?? 0,
    1,
  );
  if (servers.some(({ cpuSource }) => cpuSource === 'metrics-api')) {
    return (
      `CPU and memory are means over windows of ${interval} s from the metrics API; only windows within the ` +
      'load count, and anything shorter than a window is invisible.'
    );
  }
  if (servers.length === 0) return 'CPU and memory were not observed.';
  return (
    `CPU time is the exact difference of the kubelet's counters before and after the load. In between it was ` +
    `sampled every ${interval} s: maxima are means over such an interval, and shorter peaks of CPU and memory do not show. ` +
    `Memory is the working set. ${THROTTLED_EXPLANATION} It is missing where the kubelet sampled its counters too rarely for the length of the trial.`
  );
}

/** The containers beside the DNS server, by case; nothing where there are none. */
function sidecarTable(record: RunRecord, byCase: ReadonlyMap<string, readonly OkTrial[]>): string {
  const rows = record.cases.flatMap((item) => {
    const pods = (byCase.get(item.key) ?? []).flatMap((trial) => trial.instanceObservations ?? []);
    const sidecars = Map.groupBy(
      pods.flatMap((pod) => pod.sidecars ?? []),
      ({ name }) => name,
    );
    return [...sidecars].map(([name, uses]) => [
      plain(serverTitle(record, item.server)),
      plain([`tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)].join(', ')),
      plain(name),
      shown(mean(uses.map(({ cpuCores }) => cpuCores)), cores),
      shown(mean(uses.flatMap(({ memoryBytes }) => memoryBytes ?? [])), formatMebibytes),
    ]);
  });
  if (rows.length === 0) return '';
  return blocks(
    'Sidecars: other containers in the pods of the server, each as a mean over pods and trials. No other figure ' +
      'includes them.',
    table(['Server', 'Case', 'Container', 'Cores, mean', 'Memory, mean (MiB)'], rows, [1, 2]),
  );
}

/** The section, or nothing for a run without pods. */
export function podsSection(record: RunRecord): string {
  if (record.target !== 'kubernetes') return '';
  const byCase = okTrialsByCase(record);
  const rows = record.cases.flatMap((item) => {
    const trials = byCase.get(item.key) ?? [];
    return trials.length === 0 ? [] : [row(record, item, trials)];
  });
  if (rows.length === 0) return '';
  const head = [
    'Server',
    'CPU',
    'Mode',
    'Pods',
    'Cores, mean',
    'Cores, max',
    'Memory, mean (MiB)',
    'Memory, max (MiB)',
    'Throttled',
    'Busiest pod',
  ];
  return blocks(
    '## Pods',
    table(head, rows, [2, 3]),
    `"Busiest pod" is that pod's CPU time relative to the average of the pods behind the Service: 1.00 × is even, ` +
      `from ${formatFixed(UNEVEN_FROM, 1)} × the case is marked. A Service sends all packets of a socket to one pod, so ` +
      'an even spread takes enough sockets.',
    resolution([...byCase.values()].flat()),
    sidecarTable(record, byCase),
  );
}
