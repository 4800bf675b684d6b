/** The result as tables for a terminal of 80 columns. Pure. */
import { painter } from '@dinodns-bench/program';
import type { CannonResult, WorkerReport } from '../result/result.ts';
import { type Statistics, titleOf } from '../result/statistics.ts';
import { duration, many, percent, threeDigits, whole } from './numbers.ts';

const WIDTH = 80;
const LABEL = 11;

/** Words on lines of at most `WIDTH` columns, continued under the first word. */
export function wrap(label: string, words: readonly string[], separator = '   '): string[] {
  const lines: string[] = [];
  let line = label.padEnd(LABEL);
  let empty = true;
  for (const word of words) {
    const next = empty ? `${line}${word}` : `${line}${separator}${word}`;
    if (!empty && next.length > WIDTH) {
      lines.push(line);
      line = `${' '.repeat(LABEL)}${word}`;
    } else {
      line = next;
    }
    empty = false;
  }
  return [...lines, line];
}

const COLUMNS = ['min', 'mean', 'standardDeviation', 'p50', 'p90', 'p99', 'p99.9', 'max'] as const;
const COLUMN = 8;

/** "1.23ms": a table's cell has no room for more. */
function cell(seconds: number): string {
  return duration(seconds).replace(' ', '').padStart(COLUMN);
}

function statisticsTable(rows: readonly (readonly [string, Statistics | null])[]): string[] {
  const shown = rows.filter((row): row is readonly [string, Statistics] => row[1] !== null);
  if (shown.length === 0) return [];
  const head = `${' '.repeat(LABEL)}${COLUMNS.map((key) => titleOf(key).padStart(COLUMN)).join('')}`;
  return [
    head,
    ...shown.map(
      ([label, statistics]) =>
        `${label.padEnd(LABEL)}${COLUMNS.map((key) => cell(statistics[key])).join('')}`,
    ),
    '',
  ];
}

/** The load in one line: "closed loop, 100 outstanding". */
export function describeLoad({ options }: Pick<CannonResult, 'options'>): string {
  const { load } = options;
  switch (load.kind) {
    case 'closed':
      return `closed loop, ${whole(load.outstanding)} outstanding${load.maxRate === null ? '' : `, at most ${whole(load.maxRate)}/s`}`;
    case 'constant':
      return `open loop, ${whole(load.rate)}/s`;
    case 'poisson':
      return `open loop, Poisson arrivals, ${whole(load.rate)}/s`;
    case 'ramp':
      return `open loop, ramp from ${whole(load.from)}/s to ${whole(load.to)}/s`;
    case 'steps':
      return `open loop, steps ${load.rates.map(whole).join(', ')}/s`;
    case 'timed':
      return 'open loop, timing of the capture';
  }
}

function header(result: CannonResult): string[] {
  const { server, options } = result;
  const { workers, clients, transport } = options;
  const lanes = clients ?? workers;
  const host = server.host === server.address ? '' : ` (${server.host})`;
  return [
    ...wrap('Server', [`${server.address} port ${server.port}${host}, ${transport}`]),
    ...wrap('Load', [
      describeLoad(result),
      `${duration(result.sendingSeconds)}`,
      many(workers, 'worker'),
      many(lanes, transport === 'udp' ? 'socket' : 'connection'),
    ]),
    ...wrap('Workload', result.workload.split(' '), ' '),
    '',
  ];
}

function queryLines({ counts, lostRatio, rates, qps, elapsedSeconds, options }: CannonResult): string[] {
  // A simulated resolver is asked for lookups, and sends several queries for each.
  const units =
    options.workload.kind === 'kubernetes'
      ? { unsent: 'unsent lookups', offered: ' lookups', sent: ' queries' }
      : { unsent: 'unsent', offered: '', sent: '' };
  const parts = [
    `sent ${whole(counts.sent)}`,
    `answered ${whole(counts.answered)}`,
    // A share only of queries that have ended.
    `lost ${whole(counts.lost)}${counts.answered + counts.lost === 0 ? '' : ` (${percent(lostRatio)})`}`,
  ];
  const extra: readonly (readonly [string, number])[] = [
    [units.unsent, counts.unsent],
    ['interrupted', counts.interrupted],
    ['retried', counts.retried],
    ['over TCP', counts.fallbacks],
    ['late', counts.late],
    ['duplicate', counts.duplicate],
    ['mismatched', counts.mismatched],
    ['malformed', counts.malformed],
    ['truncated', counts.truncated],
    ['wrong code', counts.wrongCode],
    ['wrong address', counts.wrongAddress],
    ['unreadable', counts.unreadable],
    ['refused', counts.refused],
    ['reset', counts.reset],
    ['closed', counts.closed],
    ['unreachable', counts.unreachable],
  ];
  for (const [name, count] of extra) if (count > 0) parts.push(`${name} ${whole(count)}`);
  const offered =
    rates.offered === null
      ? []
      : [`offered ${whole(rates.offered)}${units.offered}/s`, `sent ${whole(rates.sent)}${units.sent}/s`];
  return [
    ...wrap('Queries', parts),
    ...wrap('Rate', [`${whole(qps)} answers per second over ${duration(elapsedSeconds)}`, ...offered]),
  ];
}

function codeLine({ codes, counts }: CannonResult): string[] {
  const parts = Object.entries(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${whole(count)} (${percent(count / Math.max(1, counts.answered))})`);
  return parts.length === 0 ? [] : wrap('Codes', parts);
}

function lookupLines({ lookups }: CannonResult): string[] {
  if (lookups === null) return [];
  return wrap('Lookups', [
    `${whole(lookups.count)} of the client`,
    `${whole(lookups.rate)}/s`,
    `found ${whole(lookups.found)}`,
    `failed ${whole(lookups.failed)}`,
    `${threeDigits(lookups.queriesPerLookup)} queries each`,
  ]);
}

function workerLine(worker: WorkerReport, index: number): string[] {
  const parts = [`worker ${index + 1}`];
  if (worker.cpuShare !== null) parts.push(`CPU ${percent(worker.cpuShare)}`);
  parts.push(`busy ${percent(worker.busyShare)}`);
  parts.push(
    `loop p99 ${duration(worker.loopDelaySeconds.p99)}, max ${duration(worker.loopDelaySeconds.max)}`,
  );
  if (worker.waitedForCpuSeconds !== null)
    parts.push(`kept from the CPU ${duration(worker.waitedForCpuSeconds)}`);
  return wrap(index === 0 ? 'Generator' : '', parts);
}

/** Only if there was any: a machine of its own has none. */
function stealLine({ generator: { stealSeconds, workers } }: CannonResult): string[] {
  if (stealSeconds === null || stealSeconds === 0) return [];
  return wrap(workers.length === 0 ? 'Generator' : '', [`taken by the hypervisor ${duration(stealSeconds)}`]);
}

/** The whole report, ending in a newline. */
export function renderText(result: CannonResult, { colours }: { readonly colours: boolean }): string {
  const paint = painter(colours);
  const lines = [
    ...header(result),
    ...queryLines(result),
    ...codeLine(result),
    ...lookupLines(result),
    '',
    ...statisticsTable([
      ['Latency', result.latencySeconds],
      ['Lookup', result.lookups?.latencySeconds ?? null],
      // Of no use beside a server that answers nothing.
      ['Lateness', result.counts.answered === 0 ? null : result.latenessSeconds],
      ['Connecting', result.connectSeconds],
    ]),
    ...result.generator.workers.flatMap(workerLine),
    ...stealLine(result),
    ...result.warnings.flatMap((warning) =>
      wrap('Warning', warning.split(' '), ' ').map((line) => paint('yellow', line)),
    ),
  ];
  return `${lines.join('\n')}\n`;
}
