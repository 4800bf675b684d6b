/** What all charts of a comparison share. Pure. */
import type { CaseRecord, OkTrial, RunRecord, SummaryStatistic } from '../../../results/record.ts';
import type { DeltaDefinition } from '../../../stats/deltas.ts';
import { type CaseGroup, furtherPoint, serverTitle } from '../../cases.ts';
import type { DocumentChart, Series } from '../../document/document.ts';
import { formatCpus, formatTime } from '../../numbers.ts';

/** Why a record has nothing to draw, as the end of a sentence: "the run has only one tier". */
export type Missing = string;

export type Draw = (data: Data) => DocumentChart | Missing;

export interface Data {
  readonly record: RunRecord;
  readonly delta: DeltaDefinition;
  readonly groups: readonly CaseGroup[];
  trialsOf(item: CaseRecord): readonly OkTrial[];
}

/** At most `most` of `items`, evenly chosen, the first and the last always among them. */
export function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) =>
    Math.round((index * (items.length - 1)) / (most - 1)),
  ).flatMap((index) => items[index] ?? []);
}

/** What charts tell apart: the baseline first, so that it is grey in every report. */
export function seriesOf(record: RunRecord): Series[] {
  const servers = [...new Set([record.baseline, ...record.cases.map(({ server }) => server)])];
  return servers
    .filter((server) => record.cases.some((item) => item.server === server))
    .map((server) => ({ name: server, title: serverTitle(record, server) }));
}

/** `CoreDNS, tier 1, single`, as tooltips begin. */
export function nameOf(record: RunRecord, item: CaseRecord): string {
  const point = [`tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)];
  return [serverTitle(record, item.server), ...point].join(', ');
}

export const intervalText = ({ low, high, n }: SummaryStatistic, format: (value: number) => string) =>
  low === null || high === null
    ? 'one trial, no interval'
    : `95 % interval ${format(low)} to ${format(high)}, ${n} trials`;

/** An axis with its unit, the size of the unit, and a figure in text. */
export type FigureUnit = readonly [axis: string, size: number, format: (value: number) => string];

/** Seconds on an axis: in milliseconds from one millisecond on, otherwise in microseconds. */
export function timeUnit(what: string, largest: number): FigureUnit {
  return largest >= 0.001 ? [`${what} (ms)`, 1e-3, formatTime] : [`${what} (µs)`, 1e-6, formatTime];
}
