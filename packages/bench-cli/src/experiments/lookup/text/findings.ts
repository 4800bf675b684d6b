/** What a lookup run shows, one sentence for each subject. */
import type { Finding } from '../../../report/document/document.ts';
import { formatCount, formatTime } from '../../../report/numbers.ts';
import { percentileOf } from '../distribution.ts';
import type { LookupComparison, LookupRecord, LookupResult } from '../record.ts';
import { perThousand, signedTime, timeRange } from './words.ts';

function figures({ phases, duplicates }: LookupResult): string {
  if (phases === null) return 'no sample succeeded';
  const [lookup, connect] = [percentileOf(phases.lookup, 50), percentileOf(phases.connect, 50)];
  const repeated =
    duplicates?.share == null
      ? ''
      : `, ${formatCount(duplicates.connectionsRepeated)} of ${formatCount(duplicates.connections)} connections with a repeated SYN`;
  return `median lookup ${formatTime(lookup)}, median connect ${formatTime(connect)}${repeated}`;
}

function clause({ metric, difference, verdict }: LookupComparison): string {
  if (difference === null || verdict === 'no difference shown' || verdict === 'not supported here')
    return `${metric}: ${verdict}`;
  const { estimate, low, high } = difference;
  if (metric === 'duplicates')
    return `${verdict} duplicates (${perThousand(estimate)} per 1,000 connections)`;
  const interval = low === null || high === null ? '' : ` (95 % interval ${timeRange(low, high)})`;
  return `${metric} ${verdict} by ${signedTime(estimate).slice(1)}${interval}`;
}

function compared(record: LookupRecord, { subject }: LookupResult): string {
  const own = record.comparisons.filter((comparison) => comparison.subject === subject);
  const shown = own.filter(({ metric }) =>
    ['lookup p50', 'connect p50', 'first lookup', 'first connect', 'duplicates'].includes(metric),
  );
  return shown.length === 0 ? '' : ` Against ${record.baseline}: ${shown.map(clause).join('; ')}.`;
}

export function lookupFindings(record: LookupRecord): Finding[] {
  return record.results.map((result) => {
    const total = result.phases === null ? 'failed' : formatTime(percentileOf(result.phases.total, 50));
    const sentence = figures(result);
    return {
      subject: result.subject,
      badge: { text: total, tone: result.phases === null ? 'warn' : 'even' },
      sentence: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.${compared(record, result)}`,
    };
  });
}
