/** The plan as text for `--dry-run`. Pure. */
import type { RunConfiguration } from '../config/configuration.ts';
import { goalOf } from '../config/trial-settings.ts';
import { percentText } from '../config/value-schemas.ts';
import { columnsOf, counted, formatDuration } from '../text.ts';
import type { Plan, PlannedCase } from './plan.ts';

function instancesLabel({ allowances }: PlannedCase): string {
  const [share] = allowances;
  return `${allowances.length} × ${Number((share ?? 0).toFixed(3))} vCPU`;
}

function untilLines({ until, maxTrials, maxTimeSeconds }: RunConfiguration, plan: Plan): string[] {
  if (until === null) return [];
  const perRound = plan.cases.length * plan.secondsPerTrial;
  const time = maxTimeSeconds === null ? '' : ` or ${formatDuration(maxTimeSeconds)}`;
  return [
    `then more, in rounds of ${formatDuration(perRound)}, until ${goalText(goalOf(until))},`,
    `with at most ${maxTrials} trials of each case${time}: about ${formatDuration(maxTrials * perRound)}`,
  ];
}

function goalText({ goal, width }: ReturnType<typeof goalOf>): string {
  const size = percentText(width);
  if (goal === 'width') return `every interval is narrower than ${size}`;
  return goal === 'gate'
    ? `each comparison is decided against a tolerance of ${size}`
    : `each comparison has a verdict or an interval narrower than ${size}`;
}

/** Short times to a tenth of a second. */
function secondsText(seconds: number): string {
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : formatDuration(seconds);
}

function slicesText({ duet }: Plan): string {
  return duet === null ? '' : ` in ${counted(duet.slices, 'slice')}, with all servers of a point up at once`;
}

function choiceLine(seconds: number, { saturate }: RunConfiguration): string {
  const what = saturate
    ? 'lower the CPU limits until the servers are the limit'
    : 'choose the load generator';
  return `before that, about ${formatDuration(seconds)}${saturate ? ' or more' : ''} to ${what}`;
}

function rateText(ratePerSecond: number | null): string {
  return ratePerSecond === null ? 'as fast as the servers answer' : `at ${ratePerSecond} QPS`;
}

function workloadsText({ workloads }: RunConfiguration): string {
  const names = workloads.map((name) => `"${name}"`).join(', ');
  return workloads.length === 1 ? `workload ${names}` : `workloads ${names}`;
}

/** The columns for axes of which the run has several values. */
function varyingAxes({ workloads, transports, ratesPerSecond }: RunConfiguration) {
  const axes = [
    { title: 'workload', count: workloads.length, value: ({ workload }: PlannedCase) => workload },
    { title: 'transport', count: transports.length, value: ({ transport }: PlannedCase) => transport },
    {
      title: 'QPS',
      count: ratesPerSecond.length,
      value: ({ ratePerSecond }: PlannedCase) => ratePerSecond ?? 'max',
    },
  ];
  return axes.filter(({ count }) => count > 1);
}

/** Cases, the order of their trials, and how long it will take. `choiceSeconds`: to choose the load before; 0 for no choice. */
export function renderPlan(plan: Plan, configuration: RunConfiguration, choiceSeconds = 0): string {
  const varying = varyingAxes(configuration);
  const head = ['#', 'server', 'tier', 'mode', 'instances', ...varying.map(({ title }) => title)];
  const rows = plan.cases.map((planned, index) => [
    String(index + 1),
    planned.server,
    String(planned.tier),
    planned.mode,
    instancesLabel(planned),
    ...varying.map(({ value }) => String(value(planned))),
    [planned.aa ? 'A/A' : '', planned.contended ? 'contended' : ''].filter(Boolean).join(', '),
  ]);
  const numberOf = new Map(plan.cases.map((planned, index) => [planned.key, index + 1]));
  const rounds = Array.from({ length: configuration.trials }, (_, round) => {
    const order = plan.trials
      .filter((trial) => trial.round === round)
      .map((trial) => numberOf.get(trial.case.key));
    return `  round ${round + 1}: ${order.join(' ')}`;
  });
  const { durationSeconds, warmupSeconds, zones } = configuration;
  return [
    ...columnsOf([head, ...rows], 2, [1, 3, 4, head.length]),
    '',
    `baseline ${configuration.baseline}; ${workloadsText(configuration)} over ${zones} zones`,
    `${configuration.transports.join(', ')}, ${configuration.ratesPerSecond.map(rateText).join(', ')}`,
    `each loader: ${configuration.clients} clients, ${configuration.outstanding} outstanding, ${configuration.threads} thread(s)`,
    '',
    'Order of the trials:',
    ...rounds,
    '',
    `${counted(plan.cases.length, 'case')}, ${counted(plan.trials.length, 'trial')} of ${secondsText(warmupSeconds)} warm-up and ${secondsText(durationSeconds)} measured time${slicesText(plan)}: about ${formatDuration(plan.estimatedSeconds)}`,
    ...untilLines(configuration, plan),
    ...(choiceSeconds === 0 ? [] : [choiceLine(choiceSeconds, configuration)]),
    '',
  ].join('\n');
}
