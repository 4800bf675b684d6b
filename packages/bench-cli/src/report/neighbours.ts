/** What the rest of the machine did meanwhile, in sentences. Pure. */
import type { OkTrial, RunRecord } from '../results/record.ts';
import { type Disturbances, examineNeighbours, HEAVY_OTHERS, HEAVY_STEAL } from '../stats/neighbours.ts';
import { formatFixed, formatSize } from './numbers.ts';
import { okTrials } from './ok-trials.ts';

/** Below this, a server that waits costs nothing: 1 % of a core. */
const IDLE_CORES = 0.01;

function aboutMachine(record: RunRecord, found: Disturbances): string[] {
  const { unit, moments, heavyOthers, heavySteal, largestCores, explained } = found;
  const parts = [
    ...(heavyOthers > 0
      ? [`other programs used at least ${formatSize(HEAVY_OTHERS, 0)} of the machine in ${heavyOthers}`]
      : []),
    ...(heavySteal > 0
      ? [`the hypervisor took at least ${formatSize(HEAVY_STEAL, 0)} of it in ${heavySteal}`]
      : []),
  ];
  if (parts.length === 0) return [];
  const share =
    explained === null
      ? ''
      : ` This explains ${formatSize(explained, 0)} of the scatter of a server's throughput.`;
  return [
    `The machine was shared: ${parts.join(', and ')} of ${moments} ${unit} (up to ${formatFixed(largestCores, 1)} ` +
      `of ${record.environment.cpuCores} CPUs).${share}`,
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

function disturbances(record: RunRecord): Disturbances | null {
  // The counters are those of the whole machine, of which bench may have a part.
  return examineNeighbours(okTrials(record), record.environment.cpuCores);
}

/** Whether others took a large share of the machine in a moment of the run. */
export function isShared(record: RunRecord): boolean {
  const { heavyOthers = 0, heavySteal = 0 } = disturbances(record) ?? {};
  return heavyOthers + heavySteal > 0;
}

/**
 * The warnings of the record without that of the load average before the run, as older runs have it, where what others took
 * during the run is known.
 */
export function warningsDuring(record: RunRecord): readonly string[] {
  if (disturbances(record) === null) return record.warnings;
  return record.warnings.filter((warning) => !/^the machine was busy .*\(load average /.test(warning));
}

/** None where that was not watched, and for a run on a machine of its own. */
export function neighbourNotes(record: RunRecord): string[] {
  const found = disturbances(record);
  return [
    ...(found === null ? [] : [...aboutMachine(record, found), ...aboutHeat(found)]),
    ...aboutIdle(okTrials(record)),
  ];
}
