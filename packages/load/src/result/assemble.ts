/** Builds the result from the measurements. Pure. */
import { type Counts, dueIn } from '../engine/measurements.ts';
import type { CannonOptions } from '../options.ts';
import { arrivalsOf, countOf } from '../schedule/schedule.ts';
import { NO_FACTS, type ServerAddress, type TransportFacts } from '../transport/transport.ts';
import type { CannonResult, EndedBy, LookupReport, WorkerReport } from './result.ts';
import { distributionOf, statisticsOf } from './statistics.ts';
import { namedCodes, type Tally, type WorkerTally } from './tally.ts';
import { limitReasons, warningsOf } from './warnings.ts';

export interface RunFacts {
  readonly version: string;
  readonly startedAt: Date;
  readonly options: CannonOptions;
  readonly server: ServerAddress;
  readonly workload: string;
  readonly transport: readonly TransportFacts[];
  readonly endedBy: EndedBy;
  readonly stealSeconds: number | null;
  /** What was found out about a server that did not answer, as sentences. */
  readonly diagnosis: readonly string[];
}

/** Where nothing listened, the queries in flight are lost: nobody interrupted them, and nobody would have answered. */
function finalCounts(counts: Counts, endedBy: EndedBy): Counts {
  if (endedBy !== 'refused') return counts;
  return { ...counts, lost: counts.lost + counts.interrupted, interrupted: 0 };
}

export function assemble(tally: Tally, facts: RunFacts): CannonResult {
  const { options, server } = facts;
  const { codes, latency, lateness, connect } = tally.total;
  const counts = finalCounts(tally.total.counts, facts.endedBy);
  const { workers } = tally;
  const sendingSeconds = Math.max(0, ...workers.map(({ summary }) => summary.sendingNs)) / 1e9;
  const lastAnswer = Math.max(0, ...workers.map(({ summary }) => summary.lastAnswerNs)) / 1e9;
  const elapsedSeconds = Math.max(sendingSeconds, lastAnswer, 1e-9);
  const qps = counts.answered / elapsedSeconds;
  const reasons = limitReasons(tally, options.load);
  const [opened = NO_FACTS] = facts.transport;
  const result: Omit<CannonResult, 'warnings'> = {
    schemaVersion: 1,
    tool: 'dnscannon',
    version: facts.version,
    startedAt: facts.startedAt.toISOString(),
    server: { host: server.host, address: server.address, port: server.port },
    options,
    workload: facts.workload,
    qps,
    endedBy: facts.endedBy,
    sendingSeconds,
    elapsedSeconds,
    rates: {
      offered: offeredRate(options, sendingSeconds, dueIn(counts)),
      sent: counts.sent / Math.max(sendingSeconds, 1e-9),
      answered: qps,
    },
    counts,
    lostRatio: counts.lost / Math.max(1, counts.answered + counts.lost),
    codes: namedCodes(codes),
    problems: tally.total.reasons,
    latencySeconds: distributionOf(latency),
    latenessSeconds: distributionOf(lateness),
    connectSeconds: statisticsOf(connect),
    lookups: lookupReport(tally, elapsedSeconds),
    meanQueryBytes: counts.bytesSent / Math.max(1, counts.sent + counts.retried + counts.fallbacks),
    meanAnswerBytes: counts.bytesReceived / Math.max(1, counts.answered + counts.fallbacks),
    generator: {
      wasTheLimit: reasons.length > 0,
      reasons,
      workers: workers.map(workerReport),
      stealSeconds: facts.stealSeconds,
      ...opened,
    },
    ...(options.sockets === null ? {} : { sockets: workers.flatMap(({ summary }) => summary.sockets ?? []) }),
  };
  return { ...result, warnings: [...warningsOf(result), ...facts.diagnosis] };
}

/** An open loop's rate is what was due while it lasted; a capture's, what was due in it. */
function offeredRate({ load, durationSeconds }: CannonOptions, seconds: number, due: number): number | null {
  if (load.kind === 'timed') return due / Math.max(seconds, 1e-9);
  const arrivals = arrivalsOf(load);
  if (arrivals === null || seconds === 0) return null;
  return arrivals.kind === 'constant' || arrivals.kind === 'poisson'
    ? arrivals.rate
    : countOf(arrivals, durationSeconds, seconds) / seconds;
}

function lookupReport({ total }: Tally, seconds: number): LookupReport | null {
  const { lookups, lookupsFound, lookupsFailed, sent } = total.counts;
  if (lookups === 0) return null;
  return {
    count: lookups,
    found: lookupsFound,
    failed: lookupsFailed,
    rate: (lookupsFound + lookupsFailed) / seconds,
    queriesPerLookup: sent / lookups,
    latencySeconds: distributionOf(total.lookup),
  };
}

function workerReport({ summary, measurements }: WorkerTally): WorkerReport {
  const { use, sendingNs } = summary;
  const { times, loopDelay } = measurements;
  return {
    cpuSeconds: use === null ? null : use.cpuNs / 1e9,
    cpuShare: use === null ? null : use.cpuNs / Math.max(1, sendingNs),
    busyShare: times.busyNs / Math.max(1, times.busyNs + times.idleNs),
    waitedForCpuSeconds: use === null || use.waitedNs === null ? null : use.waitedNs / 1e9,
    loopDelaySeconds: { p99: loopDelay.percentile(99) / 1e9, max: loopDelay.max / 1e9 },
    stalls: times.stalls,
    stalledSeconds: times.stalledNs / 1e9,
  };
}
