/** The paragraphs of the blog post: what was measured, how, and what to keep in mind. */
import type { RunRecord } from '../results/record.ts';
import { groupCases, serverTitle, titleWithVersion } from './cases.ts';
import { numberSetting } from './facts.ts';
import { findings } from './findings.ts';
import { explainCaseMarks } from './mark-notes.ts';
import { cpuLimitSentence, stockNote } from './markdown-facts.ts';
import { blocks, bullets, code, plain, table } from './markdown-text.ts';
import { formatBytes, formatCpus } from './numbers.ts';
import { comparedServers, overallSentence, reservation } from './overall.ts';
import { verdictSentence } from './verdict-sentence.ts';
import { describeWorkload } from './workloads.ts';

export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** "CoreDNS 1.15.0, DinoDNS 0.0.13": each with its version once. */
export function contestants(record: RunRecord): string[] {
  return [...new Set(record.cases.map(({ server }) => server))].map((name) => {
    const server = record.servers.find((candidate) => candidate.name === name);
    return server === undefined ? serverTitle(record, name) : titleWithVersion(server);
  });
}

function machineOf(record: RunRecord): string {
  const { environment: host } = record;
  if (record.target === 'kubernetes')
    return `a Kubernetes cluster (${host.cluster?.version ?? 'unknown version'})`;
  const virtual = host.virtualization === null || host.virtualization === 'none' ? '' : ', virtual';
  return `one machine (${host.cpuModel}, ${host.cpuCores} cores${virtual})`;
}

export function excerpt(record: RunRecord): string {
  const tiers = [...new Set(record.cases.map(({ tier }) => tier))].map(formatCpus);
  const modes = [...new Set(record.cases.map(({ mode }) => mode))];
  const trials = Math.max(0, ...record.cases.map((item) => item.trials.ok));
  return (
    `We measured ${listed(contestants(record))} on ${machineOf(record)}: ` +
    `${tiers.length === 1 ? `tier ${tiers[0]}` : `tiers ${listed(tiers)}`} (vCPUs), ${listed(modes)} mode, ` +
    `${trials === 1 ? 'one trial' : `${trials} interleaved trials`} of each.`
  );
}

/** One sentence per server where intervals allow one, else what single trials say. */
export function throughputSentences(record: RunRecord): string[] {
  const overall = comparedServers(record).flatMap((server) => overallSentence(record, server, 'qps') ?? []);
  if (overall.length > 0) return overall;
  return groupCases(record).flatMap(({ title, cases }) =>
    cases
      .filter(({ server }) => server !== record.baseline || cases.length === 1)
      .map((item) => `${title}: ${verdictSentence(item, record)}`),
  );
}

export function tldr(record: RunRecord): string {
  const cost = comparedServers(record).flatMap(
    (server) => overallSentence(record, server, 'cpuSecondsPerQuery') ?? [],
  );
  const but = reservation(record);
  return bullets([...throughputSentences(record), ...cost, ...(but === null ? [] : [but])].map(plain));
}

export function conclusions(record: RunRecord): string {
  const servers = comparedServers(record);
  const about = (['qps', 'latencySeconds', 'cpuSecondsPerQuery', 'memoryBytes'] as const).flatMap((metric) =>
    servers.flatMap((server) => overallSentence(record, server, metric) ?? []),
  );
  if (about.length === 0)
    return 'There are no intervals yet, so nothing can be concluded: measure with more trials.';
  return blocks('On this machine, with this workload:', bullets(about.map(plain)));
}

export function methodology(record: RunRecord): string {
  const { workloads, loader } = record;
  const duration = numberSetting(record, 'duration');
  const warmup = numberSetting(record, 'warmup') ?? 0;
  const versions = record.servers.map(({ title, version, components }) => [
    plain(title),
    plain(version),
    plain(
      Object.entries(components)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ),
  ]);
  const { environment: host } = record;
  return blocks(
    bullets([
      `Load came from ${plain(loader.kind)} ${plain(loader.version)}.`,
      ...workloads.map(
        (workload) => `Workload ${code(workload.name)}: ${plain(describeWorkload(workload, record))}`,
      ),
      ...(duration === null
        ? []
        : [
            `Each trial starts a fresh server, checks every distinct answer, warms up for ${warmup} s and measures for ${duration} s. A server that gives wrong answers is not measured.`,
          ]),
      'Trials are interleaved, so that drift of the machine affects all servers equally; trials of the same round are compared in pairs.',
      cpuLimitSentence(record),
      `The machine: ${plain(`${host.cpuModel}, ${host.cpuCores} cores, ${formatBytes(host.memoryBytes)}, ${host.os}, kernel ${host.kernel}`)}.`,
      plain(record.intervalMethod),
    ]),
    versions.length === 0 ? '' : table(['Server', 'Version', 'Components'], versions, [1, 2]),
  );
}

/** Notes from the marks and from the statistics. */
export function notes(record: RunRecord): string {
  const lines = [...explainCaseMarks(record), ...findings(record), ...record.warnings];
  return bullets([...new Set(lines)].map(plain));
}

export function caveats(record: RunRecord): string {
  const loader = record.loader.kind;
  return blocks(
    bullets([
      'The intervals are valid for this machine on this day. Another machine may rank the servers differently.',
      ...(record.target === 'local'
        ? [
            'Servers and load generator share one machine and its loopback interface; no network card was involved.',
          ]
        : []),
      ...(record.cases.every(({ ratePerSecond }) => ratePerSecond !== null)
        ? []
        : [
            `Load is a closed loop: the next query of ${plain(loader)} leaves when an answer arrives, so a faster server shows a lower latency. Latency at a fixed rate is a different measurement.`,
          ]),
      'Verdicts are about throughput, latency and cost, not about features or correctness under load beyond the checks above.',
    ]),
    stockNote(record),
  );
}
