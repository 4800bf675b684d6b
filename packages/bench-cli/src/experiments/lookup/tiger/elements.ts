/** A lookup run as elements of tiger-bench's results file: one for each subject. Pure. */
import type { ClusterDetails, DnsPerfResults, WrittenElement } from '../../../tiger-bench/results-file.ts';
import { elementOf } from '../../../tiger-bench/results-file.ts';
import type { TigerSummary } from '../../../tiger-bench/summary.ts';
import { parseTestsFile, type TigerTest } from '../../../tiger-bench/tests-file.ts';
import { percentileOf } from '../distribution.ts';
import type { Distribution, LookupRecord, LookupResult, Subject } from '../record.ts';

const SUMMARY_PERCENTILES = [50, 75, 90, 99] as const;

/** Percentiles are nearest ranks on both sides; zero values are omitted. */
export function summaryOf(distribution: Distribution | undefined): TigerSummary {
  if (distribution === undefined) return {};
  const { min, max, mean, n } = distribution;
  const fields: [string, number][] = [
    ['min', min],
    ['max', max],
    ['avg', mean],
    ...SUMMARY_PERCENTILES.map((p): [string, number] => [`P${p}`, percentileOf(distribution, p)]),
    ['datapoints', n],
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== 0));
}

/** Duplicates by tiger-bench's own rule. */
function figuresOf({ phases, samples, duplicates }: LookupResult): DnsPerfResults {
  return {
    LookupTime: summaryOf(phases?.lookup),
    ConnectTime: summaryOf(phases?.connect),
    DuplicateSYN: duplicates?.tigerRule.duplicateSyn ?? 0,
    DuplicateSYNACK: duplicates?.tigerRule.duplicateSynAck ?? 0,
    FailedCurls: samples.taken - samples.succeeded,
    SuccessfulCurls: samples.succeeded,
  };
}

/** The settings of a run that was not made from a file of tiger-bench, as far as it has words for them. */
function settingsOf({ url, durationSeconds }: LookupRecord, { conditions, policy }: Subject): TigerTest {
  const test = {
    TestKind: 'dnsperf',
    NumServices: Number(conditions.services ?? 0),
    Duration: Math.round(durationSeconds),
    CalicoNodeCPULimit: conditions['CPU limit of calico-node'] ?? '',
    DNSPerf: {
      NumDomains: Number(conditions.domains ?? 0),
      Mode: policy ?? '',
      RunStress: conditions.stress === 'yes',
      TestDNSPolicy: conditions.policy !== undefined,
      TargetURL: url,
    },
  };
  const [read] = parseTestsFile('record', JSON.stringify([test])).tests;
  if (read === undefined) throw new Error('a list of one test without a test');
  return read;
}

/** What a record knows of its cluster; empty and `unknown` as tiger-bench has it elsewhere. */
function detailsOf({ environment, simulation }: LookupRecord): ClusterDetails {
  const cluster = environment.cluster ?? null;
  const node = cluster?.nodes[0];
  return {
    Cloud: 'unknown',
    Provisioner: 'unknown',
    NodeType: 'linux',
    NodeOS: node?.os ?? environment.os,
    NodeKernel: node?.kernel ?? environment.kernel,
    NodeArch: node?.architecture ?? environment.architecture,
    NumNodes: cluster?.nodes.length ?? 0,
    Dataplane: 'unknown',
    IPFamily: 'ipv4',
    Encapsulation: '',
    WireguardEnabled: false,
    // Where a title would say it in other formats.
    Product: simulation === null ? 'unknown' : 'SIMULATION',
    CalicoVersion: '',
    K8SVersion: node?.kubeletVersion ?? '',
    CRIVersion: node?.containerRuntime ?? '',
    CNIOption: cluster?.cni ?? '',
    ReleaseStream: '',
  };
}

/** What a run from a file of tiger-bench keeps of it in its record. */
export interface KeptTest {
  readonly config: TigerTest;
  readonly ClusterDetails: ClusterDetails;
}

/** A run on a cluster that was not made from a file of tiger-bench keeps only the cluster. */
function isKept(value: LookupRecord['tigerBench']): value is Record<string, unknown> & Partial<KeptTest> {
  return value !== null && 'ClusterDetails' in value;
}

/** One element for each subject. A subject without a trial that counts has the reason as its error, beside its figures. */
export function elementsOf(record: LookupRecord): WrittenElement[] {
  const { tigerBench: kept, results, subjects, trials } = record;
  return results.flatMap((result) => {
    const subject = subjects.find(({ key }) => key === result.subject);
    if (subject === undefined) return [];
    const { config = settingsOf(record, subject), ClusterDetails = detailsOf(record) } = isKept(kept)
      ? kept
      : {};
    const own = trials.filter((trial) => trial.subject === result.subject);
    const failed = own.every(({ failure }) => failure !== null);
    const error = failed ? (own.find(({ failure }) => failure !== null)?.failure ?? '') : '';
    return [elementOf(config, ClusterDetails, { dnsperf: figuresOf(result), error })];
  });
}
