/** A lookup run as elements of tiger-bench's results file: one for each subject. Pure. */
import type { Renderer } from '../../../report/renderer.ts';
import {
  type DnsPerfResults,
  elementOf,
  formatResults,
  type TigerElement,
  type TigerSummary,
} from '../../../tiger-bench/results-file.ts';
import { parseTestsFile, type TigerTest } from '../../../tiger-bench/tests-file.ts';
import { percentileOf } from '../distribution.ts';
import type { Distribution, LookupRecord } from '../evidence.ts';
import { type Overall, overallsOf } from '../overall.ts';
import { detailsOfRecord } from '../pods/cluster-details.ts';
import { policyKind, trialSeconds, urlOf } from '../settings.ts';

const SUMMARY_PERCENTILES = [50, 75, 90, 99] as const;

/** Percentiles are nearest ranks on both sides; zero values are omitted. */
export function summaryOf(distribution: Distribution | null | undefined): TigerSummary {
  if (distribution == null) return {};
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
function figuresOf({ phases, samples, repeated }: Overall): DnsPerfResults {
  return {
    LookupTime: summaryOf(phases?.lookup),
    ConnectTime: summaryOf(phases?.connect),
    DuplicateSYN: repeated?.tigerRule.duplicateSyn ?? 0,
    DuplicateSYNACK: repeated?.tigerRule.duplicateSynAck ?? 0,
    FailedCurls: samples.taken - samples.succeeded,
    SuccessfulCurls: samples.succeeded,
  };
}

/** The settings of a run, as far as tiger-bench has words for them; of one from its file, the test itself. */
function testOf({ settings }: LookupRecord, { subject, trials }: Overall): TigerTest {
  const { policy, services } = subject;
  // `--until` adds trials to those of the settings.
  const seconds = trialSeconds(settings) * (trials.ok + trials.failed);
  const own = {
    TestKind: 'dnsperf',
    NumPolicies: settings.standingPolicies,
    NumIdlePolicies: settings.idlePolicies,
    NumServices: services,
    NumPods: settings.standingPods,
    Duration: Math.round(seconds),
    CalicoNodeCPULimit: settings.calicoNodeCpu ?? '',
    DNSPerf: {
      NumDomains: policyKind(settings) === null ? 0 : settings.domains,
      Mode: policy ?? '',
      RunStress: settings.stress,
      // It has no policy without a mode.
      TestDNSPolicy: policyKind(settings) !== null && policy !== null,
      TargetURL: urlOf(settings),
    },
  };
  const [read] = parseTestsFile('record', `[${settings.tigerTest ?? JSON.stringify(own)}]`).tests;
  if (read === undefined) throw new Error('a list of one test without a test');
  return read;
}

/** A subject without a trial that succeeded has the reason as its error, beside its figures. */
export function elementsOf(record: LookupRecord): TigerElement[] {
  const { settings, trials } = record;
  const found = detailsOfRecord(record);
  // Where a title would say it in other formats.
  const details = settings.simulatePolicy === undefined ? found : { ...found, Product: 'SIMULATION' };
  return overallsOf(record).map((overall) => {
    const failed = trials.flatMap((trial) =>
      trial.case === overall.subject.name && trial.status === 'failed' ? [trial.failure.message] : [],
    );
    const error = overall.trials.ok === 0 ? (failed[0] ?? '') : '';
    return elementOf(testOf(record, overall), details, { dnsperf: figuresOf(overall), error });
  });
}

/** Its elements are one array in a file of several runs, which `run-tests.ts` writes. */
export const tigerBenchFormat: Renderer<LookupRecord> = {
  name: 'tiger-bench',
  description: "the results file of tiger-bench's dnsperf tests",
  fileName: 'tiger-bench.json',
  render: (record) => `${formatResults(elementsOf(record))}\n`,
};
