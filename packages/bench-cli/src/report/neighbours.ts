/** What the rest of the machine did meanwhile, in sentences. Pure. */
import type { OkTrial, RunRecord } from '../results/record.ts';
import {
  type Cause,
  type Disturbances,
  examineNeighbours,
  HEAVY_OTHERS,
  HEAVY_STEAL,
  type Moment,
} from '../stats/neighbours.ts';
import { formatFixed } from './numbers.ts';

/** Below this, a server that waits costs nothing: 1 % of a core. */
const IDLE_CORES = 0.01;

/** Maximum number of trials named; the rest is counted. */
const MAX_NAMED = 3;

function percent(ratio: number): string {
  return `${formatFixed(ratio * 100, 0)} %`;
}

const CAUSES: readonly (readonly [Cause, string])[] = [
  ['others', 'what others took'],
  ['waiting', 'how long the servers waited for a CPU'],
  ['frequency', 'the clock frequency'],
];

/** "Of the scatter of throughput between the trials of a server, what others took explains 40 % (…), …" */
function scatterText({ explained, unit }: Disturbances): string {
  const parts = CAUSES.flatMap(([cause, words]) => {
    const { qps, cpuSecondsPerQuery: cpu } = explained[cause];
    if (qps === null) return [];
    return `${words} explains ${percent(qps)}${cpu === null ? '' : ` (of that of CPU per query ${percent(cpu)})`}`;
  });
  if (parts.length === 0) return '';
  const between = unit === 'slices' ? 'the slices' : 'the trials';
  return ` Of the scatter of throughput between ${between} of a server, ${parts.join(', ')}.`;
}

/** "3 of coredns/…#1", for the most disturbed trials. */
function placesText(heavy: readonly Moment[]): string {
  const byTrial = [...Map.groupBy(heavy, ({ trial }) => trial)].toSorted((a, b) => b[1].length - a[1].length);
  const named = byTrial.slice(0, MAX_NAMED).map(([trial, moments]) => `${moments.length} of ${trial}`);
  const rest = byTrial.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and those of ${rest} more trials` : ''}`;
}

function aboutMachine(record: RunRecord, found: Disturbances): string[] {
  const { unit, moments, heavyOthers, heavySteal, heavy, largestCores } = found;
  if (heavy.length === 0) return [];
  const parts = [
    ...(heavyOthers > 0
      ? [`other programs used at least ${percent(HEAVY_OTHERS)} of the machine in ${heavyOthers}`]
      : []),
    ...(heavySteal > 0
      ? [`the hypervisor took at least ${percent(HEAVY_STEAL)} of it in ${heavySteal}`]
      : []),
  ];
  const seconds = heavy.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const length = unit === 'slices' ? `${formatFixed(seconds, 0)} s, ` : '';
  return [
    `The machine was shared: ${parts.join(', and ')} of ${moments} ${unit} (${length}up to ` +
      `${formatFixed(largestCores, 1)} of ${record.environment.availableCpus} CPUs): ${placesText(heavy)}.` +
      `${scatterText(found)} Nothing is omitted from the figures.`,
  ];
}

function aboutHeat({ thermalEvents }: Disturbances): string[] {
  return thermalEvents === null || thermalEvents === 0
    ? []
    : [`Cores slowed down ${thermalEvents} times because they were too hot.`];
}

function aboutIdle(trials: readonly OkTrial[]): string[] {
  const idle = trials.flatMap(({ duet }) => duet?.idleCores ?? []);
  if (idle.length === 0) return [];
  const most = Math.max(...idle);
  const used = `${formatFixed(most * 100, most < IDLE_CORES ? 2 : 1)} % of a CPU`;
  return most < IDLE_CORES
    ? []
    : [
        `Servers without load were not idle: one used ${used} while others were measured, and slowed them down.`,
      ];
}

/** None where that was not watched, and for a run on a machine of its own. */
export function neighbourNotes(record: RunRecord): string[] {
  const trials = record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');
  const found = examineNeighbours(trials, record.environment.availableCpus);
  return [
    ...(found === null ? [] : [...aboutMachine(record, found), ...aboutHeat(found)]),
    ...aboutIdle(trials),
  ];
}
