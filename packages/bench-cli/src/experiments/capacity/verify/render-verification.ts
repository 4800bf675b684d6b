/** A verification as text for a terminal of 80 columns. Pure. */
import { wrapText } from '../../../text.ts';
import type { PhaseFigures } from '../beside/phases.ts';
import type { Verification } from '../plan-record.ts';

const count = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const megabytes = (bytes: number | null) => (bytes === null ? '–' : `${(bytes / 1e6).toFixed(1)} MB`);

export const PHASE_TITLES: Readonly<Record<PhaseFigures['phase'], string>> = {
  'cold-start': 'cold start',
  rest: 'at rest',
  cache: 'full cache',
  load: 'under queries',
  relist: 'API server back',
  replace: 'other endpoints',
  outage: 'after an outage',
};

function phaseLine({ phase, p95Bytes, peakBytes, queries }: PhaseFigures): string {
  const lost = queries.sent === 0 ? '' : `, ${count.format(queries.sent)} queries, ${queries.lost} lost`;
  return `${PHASE_TITLES[phase].padEnd(16)} ${megabytes(p95Bytes).padStart(9)}, peak ${megabytes(peakBytes)}${lost}`;
}

function marginText({ marginRatio }: Verification): string {
  if (marginRatio === null) return '';
  const left = Math.round(marginRatio * 100);
  return marginRatio > 0.2
    ? ` ${left} % of the limit was never used, so that 80 % of it would have held as well.`
    : ` ${left} % of the limit was never used: 80 % of it would not have been enough.`;
}

export function renderVerification(verification: Verification, columns: number): string {
  const { held, target, coredns, because, services, pods, endpoints, queriesPerSecond } = verification;
  const where = target === 'local' ? 'on this machine' : 'on the cluster';
  const what = `${coredns} ${where}, ${count.format(services)} services, ${count.format(pods)} pods, ${count.format(endpoints)} endpoints, ${count.format(queriesPerSecond)} queries/s`;
  const verdict = `${held ? 'it held' : 'it did not hold'}: ${because}.${held ? marginText(verification) : ''}`;
  return [
    'Verified',
    '',
    ...wrapText(what, columns),
    ...verification.phases.map((phase) => `  ${phaseLine(phase)}`),
    '',
    ...wrapText(verdict, columns - 2).map((line, index) => (index === 0 ? `• ${line}` : `  ${line}`)),
    '',
  ].join('\n');
}
