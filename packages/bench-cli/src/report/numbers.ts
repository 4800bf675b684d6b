/**
 * Numbers as people read them. All rounding happens here; the record keeps full precision. The formats of the published
 * tables are kept: `24,923,003`, `0.002341`, `-9.66%`, `100.00%`.
 */

function withoutNegativeZero(text: string): string {
  return /^-[0.,]+$/.test(text) ? text.slice(1) : text;
}

/** `value` with `digits` decimals and commas between groups of three digits. */
export function formatFixed(value: number, digits: number): string {
  const [whole = '', fraction] = withoutNegativeZero(value.toFixed(digits)).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Of figures that are read together, the largest size: it decides the unit and the decimals of all. */
export interface Beside {
  readonly largest: number;
}

/** For an estimate and the ends of its interval. */
export function beside(...values: readonly number[]): Beside {
  return { largest: Math.max(...values.map(Math.abs)) };
}

/** Cores as Kubernetes writes them: `283m`, `4.2m`. */
export function formatMillicores(cores: number, { largest } = beside(cores)): string {
  return `${formatFixed(cores * 1000, largest * 1000 < 10 ? 1 : 0)}m`;
}

/** `24,923,003` */
export function formatCount(value: number): string {
  return formatFixed(value, 0);
}

/** Queries per second: whole numbers as published, with decimals below one hundred. */
export function formatQps(value: number): string {
  return formatFixed(value, value !== 0 && Math.abs(value) < 100 ? 2 : 0);
}

/** Seconds as dnsperf prints them, `0.002341`: whole microseconds. */
export function formatSeconds(value: number): string {
  return value.toFixed(6);
}

/** A share as a percentage, `100.00%`. */
export function formatShare(ratio: number): string {
  return `${withoutNegativeZero((ratio * 100).toFixed(2))}%`;
}

/** A share as a percentage with three significant digits, `94.5 %`; more where fewer would turn it into `100 %`. */
export function formatPercent(ratio: number): string {
  const percent = ratio * 100;
  let digits = 3;
  while (digits < 9 && Math.abs(percent) < 100 && Math.abs(Number(percent.toPrecision(digits))) === 100)
    digits++;
  return `${Number(percent.toPrecision(digits))} %`;
}

/** The size of a ratio as a percentage, without its sign: `12.3 %`. */
export function formatSize(ratio: number, digits = 1): string {
  return `${formatFixed(Math.abs(ratio) * 100, digits)} %`;
}

/** A delta as a percentage with its sign, `-9.66%`, `+7.92%`, `0.00%`. */
export function formatDelta(ratio: number): string {
  const text = formatShare(ratio);
  return ratio > 0 && Number.parseFloat(text) !== 0 ? `+${text}` : text;
}

/** Three significant digits, without an exponent and without trailing decimals above 100. */
export function formatShort(value: number, { largest } = beside(value)): string {
  // Rounded first, so that 0.9999 has the digits of 1.00.
  const size = Number(largest.toPrecision(3));
  if (size === 0) return '0';
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return formatFixed(value, digits);
}

/** No clock here is finer than a nanosecond: a difference this small is left over from arithmetic. */
const NO_TIME = 1e-12;

/** A time, or a difference of times, in the unit that suits it: `2.34 ms`, `-85.1 µs`, `1.20 s`; `<0.001 µs` if too short to show. */
export function formatTime(seconds: number, { largest } = beside(seconds)): string {
  const size = Math.abs(seconds);
  if (size < NO_TIME) return '0 s';
  if (size < 0.5e-9) return `${seconds < 0 ? '>-' : '<'}0.001 µs`;
  if (largest >= 0.9995) return `${formatShort(seconds, { largest })} s`;
  if (largest >= 0.0009995) return `${formatShort(seconds * 1e3, beside(largest * 1e3))} ms`;
  return `${formatShort(seconds * 1e6, beside(largest * 1e6))} µs`;
}

/** Microseconds as a bare number with two decimals, `24.10`. */
export function formatMicroseconds(seconds: number): string {
  return formatFixed(seconds * 1e6, 2);
}

export const MEBIBYTE = 2 ** 20;

/** `98.3 MiB`, `1.21 GiB` */
export function formatBytes(bytes: number, { largest } = beside(bytes)): string {
  const [own, most] = [bytes / MEBIBYTE, largest / MEBIBYTE] as const;
  return most >= 1000
    ? `${formatShort(own / 1024, beside(most / 1024))} GiB`
    : `${formatShort(own, beside(most))} MiB`;
}

/** Mebibytes as a bare number with one decimal. */
export function formatMebibytes(bytes: number): string {
  return formatFixed(bytes / MEBIBYTE, 1);
}

/** A number of vCPUs: `2`, `0.5`, `0.75`. */
export function formatCpus(cpus: number): string {
  return String(Number(cpus.toFixed(3)));
}

/** A p value with two significant digits, rounded up; `<0.001` below. */
export function formatP(pValue: number): string {
  if (pValue < 0.001) return '<0.001';
  const digits = pValue < 0.01 ? 4 : pValue < 0.1 ? 3 : 2;
  return roundTowards(pValue, digits, 'up').toFixed(digits);
}

function roundTowards(value: number, digits: number, direction: 'down' | 'up'): number {
  const scale = 10 ** digits;
  const scaled = value * scale;
  // 1.1 × 10 is 11.000000000000002 in binary: that must not round up to the next digit.
  const nearest = Math.round(scaled);
  if (Math.abs(scaled - nearest) < 1e-9 * Math.max(1, Math.abs(scaled))) return nearest / scale;
  return (direction === 'down' ? Math.floor(scaled) : Math.ceil(scaled)) / scale;
}

/** Whole numbers would make an interval narrower than this look up to twice as wide. */
const NARROW = 2;

/**
 * The ends of an interval, rounded outwards, so that the text never claims more than the figures. With as few decimals
 * as the size and the distance of the ends need, but at least `least`, and enough that an interval that excludes `excluded` still does.
 */
export function formatOutwards(
  low: number,
  high: number,
  excluded: number,
  least = 0,
): { low: string; high: string; digits: number } {
  const nearestEnd = Math.min(Math.abs(low), Math.abs(high));
  let digits = Math.max(least, nearestEnd >= 10 && high - low >= NARROW ? 0 : 1);
  const excludes = (bottom: number, top: number) => bottom > excluded || top < excluded;
  while (
    digits < 6 &&
    excludes(low, high) &&
    !excludes(roundTowards(low, digits, 'down'), roundTowards(high, digits, 'up'))
  ) {
    digits++;
  }
  return {
    low: formatFixed(roundTowards(low, digits, 'down'), digits),
    high: formatFixed(roundTowards(high, digits, 'up'), digits),
    digits,
  };
}

/** The ends of the interval of a delta beside `formatDelta`, rounded outwards: `+0.01%`, `+3.40%`. */
export function deltaEnds(low: number, high: number): [string, string] {
  const { low: bottom, high: top } = formatOutwards(low * 100, high * 100, 0, 2);
  // As formatDelta, without commas.
  const text = (end: string) => `${signed(end.replaceAll(',', ''))}%`;
  return [text(bottom), text(top)];
}

/** `+` before what is not negative, for the ends of intervals of deltas. */
export function signed(text: string): string {
  return /^[-<>]/.test(text) || Number.parseFloat(text) === 0 ? text : `+${text}`;
}
