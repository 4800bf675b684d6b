/** The distributions of lookup and connect times, side by side. */
import type { LineChart } from '../../../report/document/document.ts';
import { formatFixed, formatTime } from '../../../report/numbers.ts';
import type { Distribution, LookupRecord } from '../record.ts';
import { PHASE_TITLES } from './words.ts';

/**
 * Share of the samples that took at most so long, at both ends of each bin: the curve rises within bins only, and one
 * that lies in a single bin is still seen.
 */
function steps({ histogram, n }: Distribution, name: string) {
  let total = 0;
  const point = (seconds: number) => {
    const share = (total / n) * 100;
    const tip = `${name}: ${formatFixed(share, 1)} % within ${formatTime(seconds)}`;
    return { x: seconds * 1000, y: share, tip };
  };
  return histogram.flatMap(({ lowSeconds, highSeconds, count }) => {
    const low = point(lowSeconds);
    total += count;
    return [low, point(highSeconds)];
  });
}

export function distributionChart({ results, simulation }: LookupRecord): LineChart {
  return {
    type: 'lines',
    name: 'distributions',
    title: `${simulation === null ? '' : 'SIMULATION: '}lookup and connect times`,
    caption:
      'Share of the samples that took at most so long, over the time in milliseconds on a logarithmic axis: further left is faster.',
    xAxis: 'milliseconds',
    yAxis: '% of samples',
    xScale: 'log',
    panels: (['lookup', 'connect'] as const).map((phase) => ({
      title: PHASE_TITLES[phase],
      lines: results.flatMap(({ subject, phases }) =>
        phases === null
          ? []
          : [{ series: subject, isMarked: false, points: steps(phases[phase], `${subject}, ${phase}`) }],
      ),
    })),
  };
}
