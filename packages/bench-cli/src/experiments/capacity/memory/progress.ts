/** The progress of a measurement of memory as a person reads it. */
import type { Display } from '../../../progress/display.ts';
import { formatDuration } from '../../../text.ts';
import type { Clock } from '../../../world.ts';
import type { MemoryStart } from './memory-record.ts';
import { expectedSeconds, type PlannedStart } from './points.ts';
import type { Phase } from './start.ts';

const REFRESH_SECONDS = 1;

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;

/** `settled 31 MB, steady 68 MB, peaks 74 and 92 MB`, or why it failed. */
export function startLine(start: MemoryStart): string {
  if (start.status === 'failed') return `failed (${start.failure.phase}): ${start.failure.message}`;
  const { stages, coldStart, relist, load } = start;
  const peaks = `peaks ${megabytes(coldStart.peak.anonymousBytes)} (cold start) and ${megabytes(relist.peak.anonymousBytes)} (read again)`;
  const held = `${Math.round(load.heldQps).toLocaleString('en')}/s`;
  return `settled ${megabytes(stages.settled.anonymousBytes)}, under ${held} ${megabytes(stages.underLoad.anonymousBytes)}, ${peaks}`;
}

export interface MemoryProgress {
  phase(planned: PlannedStart, phase: Phase): void;
  done(planned: PlannedStart, start: MemoryStart): void;
  stop(): void;
}

const weightOf = (starts: readonly PlannedStart[]) =>
  starts.reduce((sum, { point }) => sum + expectedSeconds(point), 0);

/** `planned`: what is still to be done, of `total` starts. */
export function createMemoryProgress(
  display: Display,
  clock: Clock,
  planned: readonly PlannedStart[],
  total: number,
): MemoryProgress {
  const phases = new Map<PlannedStart, Phase>();
  const begin = clock.monotonicSeconds();
  const all = weightOf(planned);
  let doneWeight = 0;
  let count = total - planned.length;
  const left = () => {
    const elapsed = clock.monotonicSeconds() - begin;
    return doneWeight === 0 ? null : (elapsed * (all - doneWeight)) / doneWeight;
  };
  const leftText = () => {
    const seconds = left();
    return seconds === null ? '' : `, about ${formatDuration(seconds)} left`;
  };
  const show = () => {
    const now = [...phases].map(([{ point }, phase]) => `${point.key}: ${phase}`).join('; ');
    display.live(`  ${count}/${total}${leftText()}  ${now}`);
  };
  const cancel = clock.every(REFRESH_SECONDS, show);
  return {
    phase(start, phase) {
      phases.set(start, phase);
      show();
    },
    done(start, result) {
      phases.delete(start);
      doneWeight += expectedSeconds(start.point);
      count += 1;
      display.line(
        `${count}/${total}  ${start.point.key} #${start.start}: ${startLine(result)}${leftText()}`,
      );
    },
    stop() {
      cancel();
      display.clear();
    },
  };
}
