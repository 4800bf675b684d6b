/** The sentences of the blog post: what was shown, how it was measured, and what to keep in mind. Pure. */
import type { RunRecord } from '../results/record.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import { listed } from '../text.ts';
import { groupCases, serverTitle, titleWithVersion } from './cases.ts';
import { findings } from './findings.ts';
import { leadOf } from './lead.ts';
import { explainCaseMarks } from './mark-notes.ts';
import { comparedServers, overallSentence, reservations } from './overall.ts';
import { verdictSentence } from './verdict-sentence.ts';

/** "CoreDNS 1.15.0, DinoDNS 0.0.13": each with its version once. */
export function contestants(record: RunRecord): string[] {
  return [...new Set(record.cases.map(({ server }) => server))].map((name) => {
    const server = record.servers.find((candidate) => candidate.name === name);
    return server === undefined ? serverTitle(record, name) : titleWithVersion(server);
  });
}

/** "Medians of 7 interleaved trials of each, on one machine (…)." */
export function origin(record: RunRecord): string {
  const { environment: host, target } = record;
  const trials = Math.max(0, ...record.cases.map((item) => item.trials.ok));
  const where =
    target === 'kubernetes'
      ? `a Kubernetes cluster (${host.cluster?.version ?? 'unknown version'})`
      : `one machine (${host.cpuModel}, ${host.cpuCores} cores${host.virtualization === null || host.virtualization === 'none' ? '' : ', virtual'})`;
  const figures = trials === 1 ? 'One trial of each' : `Medians of ${trials} interleaved trials of each`;
  return `${figures}, of ${listed(contestants(record))}, on ${where}.`;
}

/** Then all servers answer as many queries, and what these cost is the result. */
export function isAtFixedRate({ cases }: RunRecord): boolean {
  return cases.length > 0 && cases.every(({ ratePerSecond }) => ratePerSecond !== null);
}

/**
 * What was shown: a sentence for each server, about throughput where that was the server's own, else about what a query cost it; where
 * there are no intervals, what single trials say.
 */
export function verdicts(record: RunRecord): string[] {
  const metrics: readonly ComparedMetric[] = isAtFixedRate(record)
    ? ['cpuSecondsPerQuery', 'qps']
    : ['qps', 'cpuSecondsPerQuery'];
  const overall = comparedServers(record).flatMap(
    (server) =>
      metrics
        .map((metric) => overallSentence(record, server, metric))
        .find((sentence) => sentence !== null) ?? [],
  );
  if (overall.length > 0) return overall;
  return groupCases(record).flatMap(({ title, cases }) =>
    cases
      .filter(({ server }) => server !== record.baseline || cases.length === 1)
      .map((item) => `${title}: ${verdictSentence(item, record)}`),
  );
}

/** The rest of what was shown. */
export function furtherVerdicts(record: RunRecord): string[] {
  const told = verdicts(record);
  const metrics: readonly ComparedMetric[] = ['qps', 'cpuSecondsPerQuery', 'latencySeconds', 'memoryBytes'];
  const all = metrics
    .slice(isAtFixedRate(record) ? 1 : 0)
    .flatMap((metric) =>
      comparedServers(record).flatMap((server) => overallSentence(record, server, metric) ?? []),
    );
  return all.filter((sentence) => !told.includes(sentence));
}

/** The figures of each server in one sentence; empty where they need a table. */
export function figureSentence(record: RunRecord): string {
  return leadOf(record)?.figures ?? '';
}

/** What limits the result: what matters most comes first. */
export function caveats(record: RunRecord): string[] {
  const servers = record.cases.map(({ server }) => server);
  return [
    ...reservations(record),
    record.target === 'local'
      ? 'Servers and load generator shared one machine and its loopback interface: no network card was involved, and another machine may rank the servers differently.'
      : 'The figures are of this cluster on this day: another one may rank the servers differently.',
    ...(servers.some((server) => /^dinodns\b/.test(server))
      ? ['The authors of dinodns-bench also maintain DinoDNS: do not trust us, repeat it.']
      : []),
    ...(isAtFixedRate(record)
      ? ['The rate was fixed: how many queries per second they can answer at most was not measured.']
      : [
          `The load was a closed loop: ${record.loader.kind} sends its next query when an answer arrives, so a faster server shows a lower latency.`,
        ]),
  ];
}

/** Notes from the marks and from the statistics. */
export function notes(record: RunRecord): string[] {
  return [...new Set([...explainCaseMarks(record), ...findings(record), ...record.warnings])];
}
