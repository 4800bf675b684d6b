/** Whether loads held the rate, and which rate to try next. Pure. */
import { BenchError } from '../../errors.ts';
import { formatFixed } from '../../report/numbers.ts';
import { NAME_SETS, type SwapRecord } from './evidence.ts';
import { estimandName, MIN_RATE_RATIO } from './figures.ts';
import { placementsOf } from './words.ts';

/** How long a rate is tried before anything is changed or measured. */
export const PROBE_SECONDS = 3;

/** They share it in whole queries a second. @throws BenchError `E_USAGE` if one would have none */
export function demandShares(rate: number, loaders: number): void {
  if (rate >= loaders) return;
  throw new BenchError('E_USAGE', `--rate ${rate}: ${loaders} load generators share it in whole queries`, {
    fix: 'Give a higher --rate, or fewer --loaders.',
  });
}

/** Of the rate that was reached: some of it is needed for what the rate varies by. */
const ADVISED_SHARE = 0.8;

/** Two digits, rounded down: a rate to try next. */
export function advisedRate(heldPerSecond: number): number {
  const wanted = Math.floor(heldPerSecond * ADVISED_SHARE);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, wanted))) - 1);
  return Math.floor(wanted / unit) * unit;
}

/** What to do about loads that did not hold the rate although it was tried before; empty if all did. */
export function rateAdvice(record: SwapRecord): string[] {
  const { rate } = record.settings;
  const held = placementsOf(record).flatMap(({ figures }) =>
    NAME_SETS.flatMap((names) => figures[estimandName('held', names)] ?? []),
  );
  const short = held.filter((share) => share < MIN_RATE_RATIO);
  if (short.length === 0) return [];
  const least = Math.min(...short) * rate;
  const advised = advisedRate(least);
  const next = advised > 0 ? `, or repeat the run with --rate ${advised}` : '';
  return [
    `${short.length} of ${held.length} loads did not hold the rate, although it was held for ${PROBE_SECONDS} s before the first placement: the slowest reached ${formatFixed(least, 0)} queries a second. Keep other work off the nodes${next}`,
  ];
}
