/** Figures of a swap as people read them. */
import { formatFixed, formatShort, signed } from '../../report/numbers.ts';
import type { SummaryStatistic } from '../../results/record.ts';
import type { SwapDifference, SwapRecord, SwapVerdict, SwapWorkload } from './record.ts';

export const NOTHING = '–';

/** Whole millicores, with a decimal below ten: `283m`, `4.2m`. */
export function millicores(cores: number): string {
  const value = cores * 1000;
  return `${formatFixed(value, Math.abs(value) < 10 ? 1 : 0)}m`;
}

export const signedMillicores = (cores: number) => signed(millicores(cores));

/** `+4.6 %`, with a no-break space. */
export function percent(ratio: number): string {
  return `${signed(formatFixed(ratio * 100, 1))}\u00a0%`;
}

export function medianOf(statistic: SummaryStatistic | null, format: (value: number) => string): string {
  return statistic === null ? NOTHING : format(statistic.median);
}

/** `42.1 µs` as a bare number. */
export const microseconds = (seconds: number) => formatShort(seconds * 1e6);

/** `+4.2m [-1.0m, +9.4m]`, which stays on one line up to the bracket. */
export function netDifference({ netCores, lowCores, highCores }: SwapDifference): string {
  if (netCores === null) return NOTHING;
  const value = signedMillicores(netCores);
  return lowCores === null || highCores === null
    ? `${value} [no interval]`
    : `${value} [${signedMillicores(lowCores)},\u00a0${signedMillicores(highCores)}]`;
}

const TONES = {
  more: 'bad',
  less: 'good',
  'no difference shown': 'even',
  'load not visible': 'warn',
  'not comparable': 'warn',
} as const satisfies Record<SwapVerdict, string>;

export const toneOf = (verdict: SwapVerdict) => TONES[verdict];

/** `names of the cluster`: what a workload asks for. */
export function workloadWords(workload: SwapWorkload): string {
  return workload === 'internal' ? 'names of the cluster' : 'names outside the cluster';
}

function sizeOf(record: SwapRecord, workload: SwapWorkload, { netCores }: SwapDifference): string {
  const base = record.results.find(({ side, workload: of }) => side === 'A' && of === workload)?.netCores;
  if (netCores === null || base === null || base === undefined || base.median <= 0) return '';
  return ` (${percent(netCores / base.median)} of what ${record.versions.A.version} uses for it)`;
}

/** What was shown of one workload, as a sentence. */
export function sentenceOf(record: SwapRecord, workload: SwapWorkload, difference: SwapDifference): string {
  const { A, B } = record.versions;
  const { verdict, netCores, lowCores, highCores, detectableCores, pairs, reasons } = difference;
  const interval =
    lowCores === null || highCores === null
      ? ''
      : `, 95 % interval ${signedMillicores(lowCores)} to ${signedMillicores(highCores)}`;
  const placements = `${pairs} ${pairs === 1 ? 'pair' : 'pairs'} of placements`;
  const rate = formatFixed(record.settings.ratePerSecond, 0);
  switch (verdict) {
    case 'more':
    case 'less':
      return (
        `At ${rate} queries a second for ${workloadWords(workload)}, ${B.version} uses ${verdict} CPU than ${A.version}: ` +
        `${signedMillicores(netCores ?? 0)}${sizeOf(record, workload, difference)}${interval}; ${placements}.`
      );
    case 'no difference shown': {
      const smallest =
        detectableCores === null
          ? 'One pair cannot show a difference.'
          : `With so many pairs, four of five swaps would show a difference of ${millicores(detectableCores)} or more.`;
      return (
        `At ${rate} queries a second for ${workloadWords(workload)}, no difference in CPU is shown between ${B.version} and ${A.version}` +
        `${netCores === null ? '' : ` (${signedMillicores(netCores)}${interval})`}; ${placements}. ${smallest}`
      );
    }
    case 'load not visible':
      return `Nothing can be said about ${workloadWords(workload)}. ${reasons.join('; ')}.`;
    case 'not comparable':
      return `The versions cannot be compared with ${workloadWords(workload)}: ${reasons.length === 0 ? 'no pair of placements was measured' : reasons.join('; ')}.`;
  }
}
