/**
 * `bench lookup --config tiger.yaml`: the dnsperf tests of a file of tiger-bench, one run for each. The results file is written
 * again after every test, so that what was measured is there whatever happens later.
 */
import { resolve } from 'node:path';
import { EXIT_STATUS, messageOf } from '@dinodns-bench/program';
import {
  parseConfigurationFile,
  resolveSettings,
  unreadableConfiguration,
} from '../../../config/configuration.ts';
import { flagName } from '../../../config/setting.ts';
import type { Invocation } from '../../../engine/experiment.ts';
import { type GivenSettings, tableOf } from '../../../engine/settings.ts';
import { BenchError, clusterRefuses } from '../../../errors.ts';
import { writeError } from '../../../results/write-whole.ts';
import { listed } from '../../../text.ts';
import { formatJunit } from '../../../tiger-bench/junit.ts';
import {
  type ClusterDetails,
  elementOf,
  formatResults,
  NO_DETAILS,
  type TigerElement,
} from '../../../tiger-bench/results-file.ts';
import { parseTestsFile, type TigerTest } from '../../../tiger-bench/tests-file.ts';
import type { World } from '../../../world.ts';
import type { LookupRecord } from '../evidence.ts';
import { kubernetesSettings } from '../plan.ts';
import { detailsOfCluster } from '../pods/cluster-target.ts';
import { LOOKUP_SETTINGS } from '../settings.ts';
import { elementsOf } from './elements.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** `BENCH_NAME` wins over `NAME`; an empty one counts as missing. */
function variable(env: Variables, name: string): string | undefined {
  const values = [env[`BENCH_${name}`], env[name]];
  return values.find((value) => value !== undefined && value !== '');
}

/** tiger-bench's environment variables. */
export function tigerEnvironment(env: Variables) {
  return {
    /** The tests. */
    testsFile: variable(env, 'TESTCONFIGFILE'),
    resultsFile: variable(env, 'RESULTS_FILE'),
    /** No report without it. */
    junitFile: variable(env, 'JUNIT_REPORT_FILE'),
    /** Copied into the results. */
    releaseStream: variable(env, 'RELEASE_STREAM') ?? '',
  };
}

/** Nodes that tiger-bench measures on. */
const NODES = 'tigera.io/test-nodepool=default-pool';

/** As the run will find it. */
async function detailsFor(world: World, { base = {}, flags }: GivenSettings): Promise<ClusterDetails> {
  const settings = resolveSettings(tableOf(LOOKUP_SETTINGS), { base, env: world.env, flags }, 'lookup');
  return detailsOfCluster(world, kubernetesSettings(world, settings));
}

type Called = Invocation<LookupRecord>;

/** The dnsperf tests of a file, with notes about what is ignored; null for a mapping, which is a file of settings. */
async function readTests(world: World, path: string): Promise<readonly TigerTest[] | null> {
  let text: string;
  try {
    text = await world.fs.readFile(resolve(world.cwd, path), 'utf8');
  } catch (cause) {
    throw unreadableConfiguration(path, cause);
  }
  const values = await parseConfigurationFile(path, text);
  if (!Array.isArray(values)) return null;
  const { tests, notes } = parseTestsFile(path, text);
  for (const note of notes) world.stderr.write(`Note: ${note}\n`);
  return tests.filter(({ TestKind }, index) => {
    const isAboutDns = TestKind === 'dnsperf';
    if (!isAboutDns) {
      world.stderr.write(
        `Note: tests[${index}] is of the kind ${TestKind}, which is not about DNS: it is left out\n`,
      );
    }
    return isAboutDns;
  });
}

/** What each test sets. */
const OF_TESTS = [
  ...(['url', 'duration', 'services', 'standingPods', 'standingPolicies', 'idlePolicies'] as const),
  ...(['stress', 'domains', 'policyModes', 'calicoNodeCpu'] as const),
];

/** @throws BenchError `E_USAGE` for flags that no test would take */
function demandOtherFlags({ flags }: Called['options'], path: string): void {
  const given = OF_TESTS.filter((name) => flags[name] !== undefined);
  if (given.length === 0) return;
  const names = given.map((name) => flagName(LOOKUP_SETTINGS[name]));
  throw new BenchError('E_USAGE', `${listed(names)}: each test of ${path} has its own`, {
    fix: 'Omit the flags, or change the tests.',
  });
}

/** tiger-bench's settings as ours; flags supply what it has none for. @throws BenchError for what cannot be measured */
export function settingsOfTest(test: TigerTest, flags: Called['options']['flags']): GivenSettings {
  const { DNSPerf: dns, Duration, CalicoNodeCPULimit } = test;
  if (dns === null) throw new Error('a dnsperf test without its settings');
  if (Duration <= 0) {
    throw new BenchError('E_CONFIG', `Duration: ${Duration} s leave no time for a sample`, {
      fix: 'Give 1 or more.',
    });
  }
  const { policy, lease, leaseNamespace, ...given } = flags;
  // Cilium has no modes.
  const hasMode = dns.Mode !== '' && !(dns.TestDNSPolicy && policy === 'cilium');
  const changes = hasMode || CalicoNodeCPULimit !== '';
  // Without standing pods, their policies select nothing either.
  const [standingPolicies, idlePolicies] =
    test.NumPods === 0
      ? [undefined, test.NumPolicies + test.NumIdlePolicies]
      : [test.NumPolicies, test.NumIdlePolicies];
  return {
    file: undefined,
    base: { nodes: NODES, trials: 1 },
    flags: {
      ...given,
      ...(changes ? { lease, leaseNamespace } : {}),
      target: 'kubernetes',
      url: dns.TargetURL,
      duration: Duration,
      services: [test.NumServices],
      standingPods: test.NumPods,
      ...{ standingPolicies, idlePolicies },
      stress: dns.RunStress,
      domains: dns.TestDNSPolicy && policy !== 'none' ? Math.max(1, dns.NumDomains) : undefined,
      policy: dns.TestDNSPolicy ? (policy ?? 'calico') : 'none',
      ...(hasMode ? { policyModes: [dns.Mode] } : {}),
      ...(CalicoNodeCPULimit === '' ? {} : { calicoNodeCpu: CalicoNodeCPULimit }),
      ...(test.LeaveStandingConfig ? { keep: true } : {}),
      tigerTest: JSON.stringify(test),
    },
  };
}

/** This program does not rebuild a cluster: it must be as the test wants it. */
function demandCluster({ Dataplane, Encap }: TigerTest, details: ClusterDetails): void {
  const problem = (field: string, wanted: string, found: string) =>
    clusterRefuses(
      `${field}: the test wants ${wanted}, the cluster has ${found || 'none'}`,
      'Reconfigure the cluster, or leave the field out.',
    );
  if (Dataplane !== '' && Dataplane !== details.Dataplane)
    throw problem('Dataplane', Dataplane, details.Dataplane);
  const found = details.Encapsulation.toLowerCase();
  // `VXLANCrossSubnet` is vxlan there, too.
  if (Encap !== '' && !(found === '' ? Encap === 'none' : found.startsWith(Encap)))
    throw problem('Encap', Encap, details.Encapsulation);
}

/** The plan of each test, without looking at the cluster. */
async function planTests({ options, run }: Called, tests: readonly TigerTest[]): Promise<number> {
  for (const test of tests) await run(settingsOfTest(test, options.flags));
  return EXIT_STATUS.success;
}

/** One test: its elements, whatever happens; only Ctrl-C ends the rest. */
async function runTest(
  { world, options, run }: Called,
  test: TigerTest,
  releaseStream: string,
): Promise<TigerElement[]> {
  let details = NO_DETAILS;
  try {
    const given = settingsOfTest(test, options.flags);
    details = { ...(await detailsFor(world, given)), ReleaseStream: releaseStream };
    demandCluster(test, details);
    const record = await run(given);
    if (record === null) throw new Error('a dry run has no results');
    return elementsOf(record).map((element) => ({ ...element, ClusterDetails: details }));
  } catch (error) {
    if (error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED'))
      throw error;
    const reason = [messageOf(error), ...(error instanceof BenchError ? error.evidence : [])].join('; ');
    world.stderr.write(`${reason}\n`);
    return [elementOf(test, details, { error: reason })];
  }
}

async function write(world: World, path: string | undefined, text: string): Promise<void> {
  if (path === undefined) return;
  try {
    await world.fs.writeFile(resolve(world.cwd, path), text);
  } catch (cause) {
    throw writeError(path, cause);
  }
}

/**
 * Runs the tests of `--config`, or of the environment where the format asks for it; null where there are none, and with
 * `--resume`: a run is that of one test, and has its settings already.
 */
export async function invokeTests(called: Called): Promise<number | null> {
  const { world, options } = called;
  if (options.resume !== undefined) return null;
  const environment = tigerEnvironment(world.env);
  const path = options.file ?? (options.format === 'tiger-bench' ? environment.testsFile : undefined);
  const tests = path === undefined ? null : await readTests(world, path);
  if (path === undefined || tests === null) return null;
  demandOtherFlags(options, path);
  if (options.dryRun) return planTests(called, tests);
  const startedAt = world.clock.now();
  const elements: TigerElement[] = [];
  for (const test of tests) {
    elements.push(...(await runTest(called, test, environment.releaseStream)));
    await write(world, environment.resultsFile, formatResults(elements));
  }
  await write(world, environment.junitFile, formatJunit(elements, startedAt));
  if (options.format === 'tiger-bench') world.stdout.write(`${formatResults(elements)}\n`);
  return elements.some(({ status }) => status === 'failed') ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
