/**
 * One line for each trial in the Go benchmark format, which `benchstat` reads:
 * https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md. What a case is stands in the name as
 * `/key=value`, so that `benchstat -col /server run.txt` compares servers and `benchstat old.txt new.txt` compares runs.
 */
import type { CaseRecord, OkTrial, RunRecord } from '../results/record.ts';
import { isLowerBound } from '../stats/decisive.ts';
import { goArchitecture } from '../text.ts';

/** Units and which way is better; nothing is assumed about the distribution. */
const UNITS: readonly (readonly [
  unit: string,
  better: 'higher' | 'lower',
  value: (trial: OkTrial) => number | null,
])[] = [
  ['queries/s', 'higher', ({ metrics }) => metrics.qps],
  ['latency-sec', 'lower', ({ metrics }) => metrics.latencySeconds],
  ['cpu-sec/query', 'lower', ({ metrics }) => metrics.cpuSecondsPerQuery],
  ['mem-bytes', 'lower', ({ metrics }) => metrics.memoryBytes],
];

const BOUNDED: ReadonlySet<string> = new Set(['queries/s', 'latency-sec']);

/** Names and values are words: no space, and no slash or equals sign that would be taken for structure. */
function word(text: string): string {
  return text.replaceAll(/[\s/=]+/g, '_') || '_';
}

function nameOf({ server, tier, mode, workload, transport, ratePerSecond, aa }: CaseRecord): string {
  const parts = [
    ['server', aa ? `${server}(aa)` : server],
    ['tier', String(tier)],
    ['mode', mode],
    ['workload', workload],
    ['transport', transport],
    // Without a limit there is no rate: names stay as they were before it was an axis.
    ...(ratePerSecond === null ? [] : [['rate', String(ratePerSecond)] as const]),
  ] as const;
  return `BenchmarkDNS${parts.map(([key, value]) => `/${key}=${word(value)}`).join('')}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Figures that something other than the server limited have units of their own, so that nothing is compared with them. */
function unitOf(unit: string, item: CaseRecord): string {
  return isLowerBound(item) && BOUNDED.has(unit) ? `${unit}-bounded` : unit;
}

/** Failed trials are omitted: the format has no place for them. */
export function renderBenchstat(record: RunRecord): string {
  const { environment, loader } = record;
  const configuration = [
    ['run', record.id],
    ['goos', 'linux'],
    ['goarch', goArchitecture(environment.architecture)],
    ['cpu', environment.cpuModel],
    ['host', environment.hostname],
    ['kernel', environment.kernel],
    ['loader', `${loader.kind} ${loader.version}`],
    ['commit', environment.git?.commit ?? ''],
  ] as const;
  const measured = record.cases.filter(({ summary }) => summary !== null);
  const cases = new Map(record.cases.map((item) => [item.key, item]));
  const results = record.trials.flatMap((trial) => {
    const item = cases.get(trial.caseKey);
    if (trial.status !== 'ok' || item === undefined) return [];
    const values = UNITS.flatMap(([unit, , value]) => {
      const figure = value(trial);
      return figure === null ? [] : [`${figure} ${unitOf(unit, item)}`];
    });
    return [`${nameOf(item)} ${trial.load.queriesCompleted} ${values.join(' ')}`];
  });
  return `${[
    ...configuration.map(([key, value]) => `${key}: ${oneLine(value)}`),
    ...UNITS.flatMap(([unit, better]) =>
      [...new Set([unit, ...measured.map((item) => unitOf(unit, item))])].map(
        (name) => `Unit ${name} better=${better} assume=nothing`,
      ),
    ),
    '',
    ...results,
  ].join('\n')}\n`;
}
