/**
 * Where a server changed over its versions: in a run of several, each is compared with the one before it, by trials of the same
 * round, and all of these comparisons at all points are corrected together. Pure.
 */
import type { CaseRecord, RunRecord, ServerRecord } from '../results/record.ts';
import { compareFamily } from '../stats/comparisons.ts';
import type { DecisiveMetric } from '../stats/decisive.ts';
import { METRIC_TITLES } from '../stats/metrics.ts';
import { levelOfRecord } from '../stats/until.ts';
import { counted, listed } from '../text.ts';
import { groupCases, inSentence, serverTitle } from './cases.ts';
import { okTrialsOf } from './ok-trials.ts';
import { SIZE_WORDS, sizeText } from './size.ts';

/** Of fewer, everyone sees where the change is. */
const LEAST_VERSIONS = 4;

/** CPU first: it says more about a server than its throughput, which is that of the load where the rate is fixed. */
const METRICS = ['cpuSecondsPerQuery', 'qps'] as const;

/** The heading of what is told of them. */
export const VERSION_STEPS = 'From version to version';

/** The servers of a run that are all versions of one, the oldest first; null for any other run. */
export function versionsOf({ servers, cases }: RunRecord): ServerRecord[] | null {
  const measured = servers.filter(({ name }) => cases.some(({ server }) => server === name));
  const [first] = measured;
  const isSeries = measured.every(
    ({ name, kind, variant }) =>
      kind === first?.kind && variant === first.variant && name.startsWith(`${kind}@`),
  );
  if (measured.length < LEAST_VERSIONS || !isSeries) return null;
  return measured.toSorted((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }));
}

/** `CoreDNS 1.9.4 to 1.15.0` */
export function seriesTitle(versions: readonly ServerRecord[]): string {
  return `${versions[0]?.title ?? ''} to ${versions.at(-1)?.version ?? ''}`;
}

/** Neighbouring versions at each point. */
function neighbours(record: RunRecord, versions: readonly ServerRecord[]) {
  return groupCases(record).flatMap(({ title, cases }) => {
    const ordered = versions.flatMap(
      ({ name }) => cases.find(({ server, aa }) => server === name && !aa) ?? [],
    );
    return ordered.slice(1).map((item, index) => {
      const before = ordered[index] as CaseRecord;
      return {
        ...{ title, item, before },
        ...{ caseKey: item.key, baselineKey: before.key },
        trials: okTrialsOf(record, item),
        baselineTrials: okTrialsOf(record, before),
      };
    });
  });
}

interface VersionStep {
  /** `CoreDNS 1.11.3 to 1.12.4` */
  readonly subject: string;
  readonly sentence: string;
  /** False for what is said of the rest. */
  readonly isStep: boolean;
}

/** The neighbours that have a difference with an interval, by the first figure that any have one of. */
function tested(record: RunRecord, versions: readonly ServerRecord[]) {
  const pairs = neighbours(record, versions);
  const compared = compareFamily(pairs, {
    seed: `${record.id}/versions`,
    level: levelOfRecord(record.until, record.configuration),
  });
  const differences = (metric: DecisiveMetric) =>
    pairs.flatMap(({ title, item, before }, index) => {
      const delta = compared[index]?.[metric];
      if (delta == null || delta.low === null || delta.high === null) return [];
      const isServersOwn = [item, before].every(({ limitedBy }) => limitedBy === 'server');
      if (metric === 'qps' && !isServersOwn) return [];
      return [{ title, item, before, delta: { ...delta, low: delta.low, high: delta.high } }];
    });
  return METRICS.map((metric) => ({ metric, pairs: differences(metric) })).find(
    (found) => found.pairs.length > 0,
  );
}

/**
 * The steps that were shown, in a sentence for each version that made one, and one for the rest; null for runs of anything else, and
 * where no neighbours can be compared.
 */
export function versionSteps(record: RunRecord): VersionStep[] | null {
  const versions = versionsOf(record);
  const found = versions === null ? undefined : tested(record, versions);
  if (versions === null || found === undefined) return null;
  const { metric, pairs } = found;
  const shown = pairs.flatMap(({ title, item, before, delta }) => {
    if (delta.verdict === 'no difference shown') return [];
    const { size, interval } = sizeText(delta, SIZE_WORDS[metric]);
    const certainty = delta.n === 2 ? 'two pairs' : `95 % interval ${interval}`;
    return [{ item, before, text: `${size} (${certainty}) at ${inSentence(title)}` }];
  });
  const what = METRIC_TITLES[metric];
  const subject = seriesTitle(versions);
  const family = `${counted(pairs.length, 'comparison')} of neighbouring versions, corrected together`;
  if (shown.length === 0)
    return [
      { subject, sentence: `No step in ${what} was shown from ${subject} (${family}).`, isStep: false },
    ];
  const steps = [...Map.groupBy(shown, ({ item }) => item.server)].map(([server, own]) => {
    const before = own[0] === undefined ? '' : serverTitle(record, own[0].before.server);
    const version = record.servers.find(({ name }) => name === server)?.version ?? server;
    const sizes = listed(own.map(({ text }) => text));
    return {
      subject: `${before} to ${version}`,
      sentence: `From ${before} to ${version}, ${what} changed: ${sizes}.`,
      isStep: true,
    };
  });
  return [
    ...steps,
    { subject, sentence: `No other step was shown from ${subject} (${family}).`, isStep: false },
  ];
}
