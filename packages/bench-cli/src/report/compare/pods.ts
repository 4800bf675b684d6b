/** What the pods of a cluster run used, and how evenly they were loaded. Empty for runs on one machine. Pure. */
import type { CaseRecord, OkTrial, RunRecord } from '../../results/record.ts';
import { mean as meanOf } from '../../stats/intervals.ts';
import { furtherPoint, serverTitle } from '../cases.ts';
import { type Block, note, text } from '../document/document.ts';
import { UNEVEN_FROM, unevenness } from '../marks.ts';
import { formatCpus, formatFixed, formatMebibytes } from '../numbers.ts';
import { okTrialsOf } from '../ok-trials.ts';
import { formatThrottled, THROTTLED_EXPLANATION, throttledShareOf } from '../throttling.ts';
import { NOTHING, numberTable } from './cells.ts';

const mean = (values: readonly number[]) => (values.length === 0 ? null : meanOf(values));
const most = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values));
const shown = (value: number | null, format: (value: number) => string) =>
  value === null ? NOTHING : format(value);
const cores = (value: number) => formatFixed(value, 2);

/** `2 on a, 1 on b`; of trials that differ, each: `1 on a; 1 on b`. */
function places(trials: readonly OkTrial[]): string {
  const ofEach = trials.map(({ instances }) => {
    const counts = Map.groupBy(instances.map(({ node }) => node ?? 'unknown').sort(), (node) => node);
    return [...counts].map(([node, list]) => `${list.length} on ${node}`).join(', ');
  });
  return [...new Set(ofEach)].join('; ');
}

function row(record: RunRecord, item: CaseRecord, trials: readonly OkTrial[]): string[] {
  const servers = trials.flatMap(({ server }) => server ?? []);
  const memory = servers.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return [
    serverTitle(record, item.server),
    formatCpus(item.tier),
    [item.mode, ...furtherPoint(record, item)].join(', '),
    places(trials),
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
function sidecars(record: RunRecord): Block[] {
  const rows = record.cases.flatMap((item) => {
    const pods = okTrialsOf(record, item).flatMap((trial) => trial.instanceObservations ?? []);
    const byName = Map.groupBy(
      pods.flatMap((pod) => pod.sidecars ?? []),
      ({ name }) => name,
    );
    return [...byName].map(([name, uses]) => [
      serverTitle(record, item.server),
      [`tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)].join(', '),
      name,
      shown(mean(uses.map(({ cpuCores }) => cpuCores)), cores),
      shown(mean(uses.flatMap(({ memoryBytes }) => memoryBytes ?? [])), formatMebibytes),
    ]);
  });
  if (rows.length === 0) return [];
  return [
    text(
      'Sidecars: other containers in the pods of the server, each as a mean over pods and trials. No other figure includes them.',
    ),
    numberTable('Sidecars', ['Server', 'Case', 'Container', 'Cores, mean', 'Memory, mean (Mi)'], rows, [
      'Case',
      'Container',
    ]),
  ];
}

const milliseconds = (value: number | null) =>
  value === null ? 'an unknown time' : `${formatFixed(value * 1000, 1)} ms`;

/** How exactly several loaders began together, and the clocks of their nodes; nothing for runs with one. */
export function loadersNote(loaders: readonly NonNullable<OkTrial['loaders']>[]): Block[] {
  if (loaders.length === 0) return [];
  const each = loaders.flatMap((item) => item.each);
  const nodes = [...new Set(each.flatMap(({ node }) => node ?? []))].join(', ');
  const spreads = loaders.flatMap((item) => {
    const starts = item.each.flatMap(({ startSeconds }) => startSeconds ?? []);
    return starts.length < item.each.length ? [] : [Math.max(...starts) - Math.min(...starts)];
  });
  const isPartlyKnown = spreads.length > 0 && spreads.length < loaders.length;
  const clocks = each.flatMap(({ clock }) => clock ?? []);
  const roundTrip = most(clocks.map(({ roundTripSeconds }) => roundTripSeconds));
  const offset = most(clocks.map(({ offsetSeconds }) => Math.abs(offsetSeconds)));
  const began = `The loaders ran on ${nodes} and began within ${milliseconds(most(spreads))} of each other${isPartlyKnown ? ' where that is known' : ''}`;
  if (roundTrip === null) return [note(`${began}. How far their clocks differed was not recorded.`)];
  const uncertainty = milliseconds(roundTrip / 2);
  return [
    note(
      `${began}, by one clock that each of them reached in ${uncertainty} or less at best. The clocks of their nodes differed from ` +
        `that one by up to ${milliseconds(offset)} (± ${uncertainty}); no figure depends on them.`,
    ),
  ];
}

/** Nothing for a run without pods. Memory is in Mi, the unit of pods' requests and limits. */
export function podBlocks(record: RunRecord): Block[] {
  if (record.target !== 'kubernetes') return [];
  const rows = record.cases.flatMap((item) => {
    const trials = okTrialsOf(record, item);
    return trials.length === 0 ? [] : [row(record, item, trials)];
  });
  if (rows.length === 0) return [];
  const trials = record.cases.flatMap((item) => okTrialsOf(record, item));
  const titles = [
    'Server',
    'CPU',
    'Mode',
    'Pods',
    'Cores, mean',
    'Cores, max',
    'Memory, mean (Mi)',
    'Memory, max (Mi)',
    'Throttled',
    'Busiest pod',
  ];
  return [
    numberTable('Pods', titles, rows, ['Mode', 'Pods']),
    note(
      `"Busiest pod" is that pod's CPU time relative to the average of the pods behind the Service: 1.00 × is even, ` +
        `from ${formatFixed(UNEVEN_FROM, 1)} × the case is marked. A Service sends all packets of a socket to one pod, so ` +
        'an even spread takes enough sockets.',
    ),
    note(resolution(trials)),
    ...loadersNote(trials.flatMap(({ loaders }) => loaders ?? [])),
    ...sidecars(record),
  ];
}
