/** Words and figures of lookup reports. */
import { formatFixed, formatShort, formatTime } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import type { LookupRecord, Subject } from '../record.ts';
import type { Phase } from '../sampling/sample.ts';
import { subjectTitle } from './readable.ts';

export const PHASE_TITLES: Readonly<Record<Phase, string>> = {
  lookup: 'lookup',
  connect: 'connect',
  firstByte: 'first byte',
  total: 'total',
};

/** `+1.20 ms`, `-85.1 µs`, `0 s`, also for what is left where floating point should give zero: below a nanosecond. */
export function signedTime(difference: number): string {
  const seconds = Math.abs(difference) < 1e-9 ? 0 : difference;
  const sign = seconds < 0 ? '-' : seconds > 0 ? '+' : '';
  return `${sign}${formatTime(Math.abs(seconds))}`;
}

/** `+1.1 … +1.3 ms`: an interval of a difference. */
export function timeRange(low: number, high: number): string {
  return `${signedTime(low)} … ${signedTime(high)}`;
}

/** Connections with repeated SYNs for each thousand: `0`, `1.25`, `1,000`. */
export function perThousand(share: number): string {
  const value = share * 1000;
  return Number.isInteger(value) ? formatFixed(value, 0) : formatShort(value);
}

/** The ends of an interval per thousand, rounded outwards to two decimals. */
export function perThousandRange(low: number, high: number): string {
  const text = (value: number) => formatFixed(value, value >= 100 ? 0 : 2);
  return `${text(Math.floor(low * 1e5) / 100)} … ${text(Math.ceil(high * 1e5) / 100)}`;
}

/** Title of a run: a simulation says so first. */
export function titleOf({ url, simulation, subjects }: LookupRecord): string {
  const what = subjects.map(({ key }) => subjectTitle(key)).join(', ');
  const title = `Lookup and connect times of ${url}: ${what}`;
  return simulation === null
    ? title
    : `SIMULATION, not a product's figures (delay ${formatTime(simulation.programDelaySeconds)}). ${title}`;
}

/** `connect +1.00 s, 1 repeated SYN`; `nothing`. */
export function predictionText({ prediction }: Subject): string {
  if (prediction === null) return '';
  const { lookupSeconds, connectSeconds, duplicateSyn } = prediction;
  const parts = [
    ...(lookupSeconds === 0 ? [] : [`lookup +${formatTime(lookupSeconds)}`]),
    ...(connectSeconds === 0 ? [] : [`connect +${formatTime(connectSeconds)}`]),
    ...(duplicateSyn === 0 ? [] : [counted(duplicateSyn, 'repeated SYN')]),
  ];
  return parts.join(', ') || 'nothing';
}
