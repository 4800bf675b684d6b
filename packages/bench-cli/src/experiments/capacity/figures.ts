/** Figures of this experiment as people read them. Pure. */
import type { ReportDocument } from '../../report/document/index.ts';
import { formatFixed, formatShort } from '../../report/numbers.ts';
import type { RecordHeader } from '../../results/record-kind.ts';
import { counted } from '../../text.ts';

/** Megabytes are 10⁶ bytes, as in the published formulas. */
export const BYTES_PER_MEGABYTE = 1e6;

/** `69.8`, `1,234`: megabytes as a bare number. */
export function megabytes(bytes: number): string {
  return formatShort(bytes / BYTES_PER_MEGABYTE);
}

interface Summary {
  readonly median: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** `69.8 [68.1, 71.2]`, with words kept on one line; `–` for none. */
export function withInterval(summary: Summary | null, show: (value: number) => string): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null) return show(median);
  return `${show(median)}\u00a0[${show(low)},\u00a0${show(high)}]`;
}

/** A column of figures. */
export const numberColumn = (title: string) => ({ title, isNumber: true });

/** `1,165 objects/MB` is the published form of a slope; bytes for each object is ours. */
export function kilobytesEach(bytes: number): string {
  return `${formatFixed(bytes / 1000, 2)} kB`;
}

/** How a run ended, and in one sentence. A record that still says `running` is that of a run that was killed. */
export function endOf(
  { status }: Pick<RecordHeader, 'status'>,
  {
    ok,
    failed,
    unit,
    points,
    of,
  }: {
    readonly ok: number;
    readonly failed: number;
    readonly unit: string;
    readonly points: number;
    readonly of: string;
  },
): Pick<ReportDocument, 'state' | 'headline'> {
  const how = { complete: 'Complete', interrupted: 'Interrupted', running: 'Not finished' }[status];
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return {
    state: status !== 'complete' ? 'interrupted' : failed > 0 ? 'failed-trials' : 'complete',
    headline: `${how}: ${counted(ok, unit)} of ${counted(points, of)} measured${failures}.`,
  };
}
