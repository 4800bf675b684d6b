/** The lines that a measurement of propagation shows while it lasts. */
import type { Display } from '../../../progress/display.ts';
import { formatTime } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { counted, formatDuration } from '../../../text.ts';
import type { World } from '../../../world.ts';
import type { PropagationTrial } from './propagation-record.ts';

function trialText(trial: PropagationTrial): string {
  if (trial.status === 'failed') return `failed: ${trial.failure.message}`;
  const { delaysSeconds, unresolved } = trial;
  const missing = unresolved === 0 ? '' : `, ${unresolved} did not resolve`;
  return delaysSeconds.length === 0
    ? 'no Service resolved'
    : `median ${formatTime(median(delaysSeconds))}, largest ${formatTime(Math.max(...delaysSeconds))}${missing}`;
}

export function progressLines({ clock }: World, display: Display, total: number) {
  const begin = clock.monotonicSeconds();
  let done = 0;
  return {
    phase: (key: string, phase: string) => display.live(`  ${done + 1}/${total}  ${key}: ${phase}`),
    done(trial: PropagationTrial) {
      done += 1;
      const left = ((clock.monotonicSeconds() - begin) / done) * (total - done);
      display.line(
        `${done}/${total}  ${trial.case}: ${trialText(trial)}, about ${formatDuration(left)} left`,
      );
      if (done === total)
        display.line(
          `${counted(total, 'case trial')} in ${formatDuration(clock.monotonicSeconds() - begin)}`,
        );
    },
  };
}
