/**
 * `bench lookup --config tiger.yaml`: the dnsperf tests of a file of tiger-bench, one run for each. The results file is written
 * again after every test, so that what was measured is there whatever happens later.
 */
import { resolve } from 'node:path';
import { EXIT_STATUS, messageOf } from '@dinodns-bench/program';
import { resolveSettings, unreadableConfiguration } from '../../../config/configuration.ts';
import { BenchError } from '../../../errors.ts';
import { writeError } from '../../../results/write-whole.ts';
import { type TigerEnvironment, tigerEnvironment } from '../../../tiger-bench/environment.ts';
import { formatJunit } from '../../../tiger-bench/junit.ts';
import {
  type ClusterDetails,
  elementOf,
  formatResults,
  type WrittenElement,
} from '../../../tiger-bench/results-file.ts';
import { parseTestsFile, type TigerTest } from '../../../tiger-bench/tests-file.ts';
import type { World } from '../../../world.ts';
import type { Shown } from '../finish.ts';
import { type ClusterRunOptions, clusterOptions } from '../pods/from-settings.ts';
import { measureInCluster } from '../pods/run.ts';
import { inRunFolder } from '../run.ts';
import { LOOKUP_SETTINGS, type LookupSettings } from '../settings.ts';
import { elementsOf } from './elements.ts';

/** Nodes that tiger-bench measures on. */
const NODES = 'tigera.io/test-nodepool=default-pool';

/** Of a test that failed before the cluster was read. */
const NO_DETAILS: ClusterDetails = {
  Cloud: '',
  Provisioner: '',
  NodeType: '',
  NodeOS: '',
  NodeKernel: '',
  NodeArch: '',
  NumNodes: 0,
  Dataplane: '',
  IPFamily: '',
  Encapsulation: '',
  WireguardEnabled: false,
  Product: '',
  CalicoVersion: '',
  K8SVersion: '',
  CRIVersion: '',
  CNIOption: '',
  ReleaseStream: '',
};

/** The path of the tests: of the flag, else of the environment where the format asks for it; undefined for none. */
export function testsFileOf(
  world: Pick<World, 'env'>,
  config: string | undefined,
  { format }: Pick<LookupSettings, 'format'>,
): string | undefined {
  if (config !== undefined) return config;
  return format === 'tiger-bench' ? tigerEnvironment(world.env).testsFile : undefined;
}

/** Of settings, as they were typed. */
type Flags = Readonly<Record<string, unknown>>;

async function readTests(world: World, path: string): Promise<readonly TigerTest[]> {
  let text: string;
  try {
    text = await world.fs.readFile(resolve(world.cwd, path), 'utf8');
  } catch (cause) {
    throw unreadableConfiguration(path, cause);
  }
  const { tests, notes } = parseTestsFile(path, text);
  for (const note of notes) world.stderr.write(`Note: ${note}\n`);
  return tests;
}

/** tiger-bench's settings as ours; flags supply missing settings. @throws BenchError for what cannot be measured */
export function optionsOf(
  world: Pick<World, 'env'>,
  test: TigerTest,
  given: Flags,
): ClusterRunOptions & { readonly out: string } {
  const { DNSPerf: dns, Duration, NumServices, CalicoNodeCPULimit, LeaveStandingConfig } = test;
  if (dns === null) throw new Error('a dnsperf test without its settings');
  if (Duration <= 0) {
    throw new BenchError('E_CONFIG', `Duration: ${Duration} s leave no time for a sample`, {
      fix: 'Give 1 or more.',
    });
  }
  const flags = {
    ...given,
    url: dns.TargetURL,
    duration: Duration,
    ...(CalicoNodeCPULimit === '' ? {} : { calicoNodeCpu: CalicoNodeCPULimit }),
  };
  const sources = { base: { nodes: NODES, trials: 1 }, env: world.env, flags };
  const settings = resolveSettings(LOOKUP_SETTINGS, sources, 'lookup');
  const base = clusterOptions(world, settings);
  return {
    ...base,
    out: settings.out,
    services: [NumServices],
    standingPods: test.NumPods,
    policies: { active: test.NumPolicies, idle: test.NumIdlePolicies },
    stress: dns.RunStress,
    policy: dns.TestDNSPolicy ? (base.policy ?? 'calico') : null,
    modes: dns.Mode === '' ? [] : [dns.Mode],
    domains: Math.max(1, dns.NumDomains),
    nodeCpuLimit: CalicoNodeCPULimit === '' ? null : base.nodeCpuLimit,
    kubernetes: { ...base.kubernetes, keep: base.kubernetes.keep || LeaveStandingConfig },
  };
}

/** This program does not rebuild a cluster: it must be as the test wants it. */
function demandCluster({ Dataplane, Encap }: TigerTest, details: ClusterDetails): void {
  const problem = (field: string, wanted: string, found: string) =>
    new BenchError(
      'E_CLUSTER_REFUSED',
      `${field}: the test wants ${wanted}, the cluster has ${found || 'none'}`,
      {
        fix: 'Reconfigure the cluster, or leave the field out.',
      },
    );
  if (Dataplane !== '' && Dataplane !== details.Dataplane)
    throw problem('Dataplane', Dataplane, details.Dataplane);
  const found = details.Encapsulation.toLowerCase();
  // `VXLANCrossSubnet` is vxlan there, too.
  if (Encap !== '' && !(found === '' ? Encap === 'none' : found.startsWith(Encap)))
    throw problem('Encap', Encap, details.Encapsulation);
}

interface TestRequest {
  readonly world: World;
  readonly flags: Flags;
  readonly argv: readonly string[];
  readonly environment: TigerEnvironment;
}

/** One test: its elements, whatever happens; only Ctrl-C ends the rest. */
async function runTest(
  { world, flags, argv, environment }: TestRequest,
  test: TigerTest,
): Promise<WrittenElement[]> {
  let details = NO_DETAILS;
  try {
    const options = optionsOf(world, test, flags);
    const { record } = await inRunFolder(world, { out: options.out, show: 'nothing' }, (running) =>
      measureInCluster(running, options, argv, {
        onDetails: (found) => {
          details = { ...found, ReleaseStream: environment.releaseStream };
          demandCluster(test, details);
        },
        kept: () => ({ config: test, ClusterDetails: details }),
      }),
    );
    return elementsOf(record);
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

/** Resolves with the exit status: that of failed trials if a test has an error. */
export async function runTigerTests(
  world: World,
  flags: Flags,
  argv: readonly string[],
  { path, show }: { readonly path: string; readonly show: Shown },
): Promise<number> {
  const environment = tigerEnvironment(world.env);
  const startedAt = world.clock.now();
  const tests = await readTests(world, path);
  const elements: WrittenElement[] = [];
  for (const [index, test] of tests.entries()) {
    if (test.TestKind !== 'dnsperf') {
      world.stderr.write(
        `Note: tests[${index}] is of the kind ${test.TestKind}, which is not about DNS: it is left out\n`,
      );
      continue;
    }
    elements.push(...(await runTest({ world, flags, argv, environment }, test)));
    await write(world, environment.resultsFile, formatResults(elements));
  }
  await write(world, environment.junitFile, formatJunit(elements, startedAt));
  if (show === 'tiger-bench') world.stdout.write(`${formatResults(elements)}\n`);
  return elements.some(({ status }) => status === 'failed') ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
