/** What the rest of the machine did during a duet, in sentences. Pure. */
import type { OkTrial, RunRecord } from '../results/record.ts';
import { examineNeighbours, HEAVY_OTHERS, HEAVY_STEAL } from '../stats/neighbours.ts';
import { formatFixed } from './numbers.ts';

/** Below this, a server that waits costs nothing: 1 % of a core. */
const IDLE_CORES = 0.01;

function percent(ratio: number): string {
  return `${formatFixed(ratio * 100, 0)} %`;
}

function aboutMachine(record: RunRecord, trials: readonly OkTrial[]): string[] {
  const found = examineNeighbours(trials, record.environment.availableCpus);
  if (found === null || (found.heavyOthers === 0 && found.heavySteal === 0)) return [];
  const { slices, heavyOthers, heavySteal, heavySeconds, largestCores, explained } = found;
  const parts = [
    ...(heavyOthers > 0
      ? [`other programs used at least ${percent(HEAVY_OTHERS)} of the machine in ${heavyOthers}`]
      : []),
    ...(heavySteal > 0
      ? [`the hypervisor took at least ${percent(HEAVY_STEAL)} of it in ${heavySteal}`]
      : []),
  ];
  const scatter =
    explained === null
      ? ''
      : ` That explains ${percent(explained)} of the scatter of throughput within each server.`;
  return [
    `The machine was shared: ${parts.join(', and ')} of ${slices} slices (${formatFixed(heavySeconds, 0)} s, up to ` +
      `${formatFixed(largestCores, 1)} of ${record.environment.availableCpus} CPUs).${scatter} All slices are included in the figures.`,
  ];
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

/** None for a run that is no duet, and for one on a machine of its own. */
export function neighbourNotes(record: RunRecord): string[] {
  const trials = record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');
  return [...aboutMachine(record, trials), ...aboutIdle(trials)];
}
