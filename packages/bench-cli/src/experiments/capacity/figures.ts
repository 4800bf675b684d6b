/** Figures of this experiment as people read them. Pure. */
import { beside, formatBytes, formatFixed, formatShort, MEBIBYTE } from '../../report/numbers.ts';
import type { SummaryStatistic } from '../../results/record.ts';

/** Megabytes are 10⁶ bytes, as in the published formulas. */
export const BYTES_PER_MEGABYTE = 1e6;

/** `69.8`, `1,234`: megabytes as a bare number. */
export function megabytes(bytes: number): string {
  return formatShort(bytes / BYTES_PER_MEGABYTE);
}

/** `49.0 MiB`: megabytes as people write memory. */
export const memoryText = (megabytes: number) => formatBytes(megabytes * BYTES_PER_MEGABYTE);

/** At least as many megabytes, in whole mebibytes, as requests and limits are written. Published plans have their megabytes with two decimals. */
export function wholeMebibytes(megabytes: number): number {
  return Math.ceil((megabytes * BYTES_PER_MEGABYTE) / MEBIBYTE - 0.005);
}

/**
 * Pages of its program that CoreDNS has in memory besides anonymous memory while it reads everything again: 49 MiB where the limit
 * has room for them (results/reference/capacity-plan-survive-158200), 40 to 50 MiB in capacity-memory. The kernel charges them to the
 * container that reads them first, for example after a reboot of the node.
 */
export const PROGRAM_BYTES = 50 * MEBIBYTE;

const SET_STEP = 32 * MEBIBYTE;

/**
 * The limit to set where starts survived this one. Few starts leave a large chance of being killed, and starts of one size differ by up
 * to 8 % (docs/capacity.md, the line): so a tenth more, and as people write limits.
 */
export function limitToSet(bytes: number): number {
  return Math.ceil((bytes + bytes / 10) / SET_STEP) * SET_STEP;
}

/** The same in words. */
export const LIMIT_TO_SET = 'the next multiple of 32 MiB that is at least a tenth larger';

/** `66.6`: mebibytes as a bare number. */
export function mebibytes(bytes: number, { largest } = beside(bytes)): string {
  return formatShort(bytes / MEBIBYTE, beside(largest / MEBIBYTE));
}

/** `CoreDNS 1.15.0`: the server of this name. */
export function serverWords(name: string): string {
  return name.replace('coredns-cluster', 'CoreDNS').replace('@', ' ');
}

/** A figure of several trials with its 95 % interval, where there is one. */
export type Summary = Readonly<Pick<SummaryStatistic, 'median' | 'low' | 'high'>>;

/** `1,165 objects/MB` is the published form of a slope; bytes for each object is ours. */
export function kilobytesEach(bytes: number): string {
  return `${formatFixed(bytes / 1000, 2)} kB`;
}
