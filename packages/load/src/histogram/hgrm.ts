/**
 * HdrHistogram's percentile distribution (`.hgrm`), as its `outputPercentileDistribution` writes it and its
 * plotters read it: https://hdrhistogram.github.io/HdrHistogram/plotFiles.html
 */
import { type Histogram, highestAt } from './histogram.ts';

/** Lines per halving of the distance to 100 %; HdrHistogram's default. */
const TICKS_PER_HALF_DISTANCE = 5;
const COLUMNS = '       Value     Percentile TotalCount 1/(1-Percentile)\n\n';

/** The whole file, values in `unitNs` (default: microseconds, as dnsperf and most plots of DNS latency use). */
export function renderHgrm(histogram: Histogram, unitNs = 1000): string {
  const value = (nanoseconds: number) => (nanoseconds / unitNs).toFixed(3).padStart(12);
  const lines: string[] = [];
  let seen = 0;
  let tick = 0;
  const { total, max } = histogram;
  for (const [index, count] of histogram.entries()) {
    seen += count;
    const shown = value(Math.min(highestAt(index), max));
    // The last two lines are the next percentile in turn, and 100.
    do {
      if ((100 * seen) / total < tick) break;
      lines.push(line(shown, tick / 100, seen));
      tick = nextTick(tick);
    } while (seen < total);
  }
  if (total > 0) lines.push(`${value(max)} ${(1).toFixed(12).padStart(14)} ${String(total).padStart(10)}`);
  const [mean, deviation] = [histogram.mean, histogram.standardDeviation].map(value);
  return `${COLUMNS}${lines.map((text) => `${text}\n`).join('')}${[
    `#[Mean    = ${mean}, StdDeviation   = ${deviation}]`,
    `#[Max     = ${value(max)}, Total count    = ${String(total).padStart(12)}]`,
    // HdrHistogram for 3 digits and a largest value of 2^42 − 1: 32 buckets of 2,048 sub-buckets.
    `#[Buckets = ${String(32).padStart(12)}, SubBuckets     = ${String(2048).padStart(12)}]`,
  ].join('\n')}\n`;
}

function line(value: string, quantile: number, count: number): string {
  const inverse = (1 / (1 - quantile)).toFixed(2).padStart(14);
  return `${value} ${quantile.toFixed(12).padStart(14)} ${String(count).padStart(10)} ${inverse}`;
}

/** The next percentile to report: steps that halve with the distance to 100 %. */
function nextTick(percentile: number): number {
  const halvings = Math.floor(Math.log2(100 / (100 - percentile))) + 1;
  return percentile + 100 / (TICKS_PER_HALF_DISTANCE * 2 ** halvings);
}
