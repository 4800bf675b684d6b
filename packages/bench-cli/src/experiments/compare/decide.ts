/** What a comparison measures, from settings: checked, cases and trials planned. Touches nothing. */
import {
  type ConfigurationSources,
  configurationOf,
  configure,
  type RunConfiguration,
  settingsOf,
  shortRun,
} from '../../config/configuration.ts';
import { byPaths } from '../../config/paths.ts';
import { SETTINGS, type Settings } from '../../config/settings.ts';
import { uncheckedText } from '../../engine/announce.ts';
import type { ExperimentPlan } from '../../engine/experiment.ts';
import type { DecidedServers } from '../../engine/servers.ts';
import { type GivenSettings, noteIdleVariables, readConfigurationFile } from '../../engine/settings.ts';
import { type Refusal, refuse } from '../../errors.ts';
import { calibrationSeconds, needsCalibration } from '../../measure/needs-calibration.ts';
import { usesDuet, whyNotShort } from '../../plan/duet.ts';
import { asDuet, type Plan, planOn } from '../../plan/plan.ts';
import { renderPlan } from '../../plan/render.ts';
import { withHomePaths, withRelativePaths } from '../../results/portable-paths.ts';
import type { Transport } from '../../results/record.ts';
import { locateServers } from '../../servers/at/index.ts';
import { withClusterNames } from '../../servers/cluster-names.ts';
import { loadServers } from '../../servers/load.ts';
import { type Server, transportsOf } from '../../servers/server.ts';
import { CLUSTER_WORKLOADS, isClusterWorkload } from '../../targets/kubernetes/cluster-workloads.ts';
import { noImage } from '../../targets/kubernetes/objects/server.ts';
import { counted } from '../../text.ts';
import { GENERATED_CLUSTER_WORKLOADS } from '../../workload/cluster-names.ts';
import { loadWorkload } from '../../workload/load-workload.ts';
import { type BenchWorkload, zoneSetOf } from '../../workload/workload.ts';
import type { World } from '../../world.ts';

/** What can be compared with what, and where. */
function demandTarget(servers: readonly Server[], { kubernetes, workloads }: RunConfiguration): void {
  if (kubernetes.target === 'kubernetes') {
    const imageless = servers.find((server) => server.image === null && server.existing === undefined);
    if (imageless !== undefined) throw noImage(imageless);
    const outside = servers.find(({ existing }) => existing?.kind === 'address');
    refuse(
      outside !== undefined && [
        `${outside.name}: an address says nothing about the pods of a cluster, which are observed`,
        'Name its Service: at=NAMESPACE/SERVICE.',
      ],
    );
  } else {
    const inCluster = servers.find(({ existing }) => existing !== undefined && existing.kind !== 'address');
    refuse(inCluster !== undefined && [`${inCluster.name} is part of a cluster`, 'Add --target kubernetes.']);
  }
  demandNames(servers, workloads);
}

/** The names of a cluster are known to its own servers only, and those know no others. */
function demandNames(servers: readonly Server[], workloads: readonly string[]): void {
  const clusterDns = servers.find(({ existing }) => existing?.kind === 'cluster-dns');
  const foreign = workloads.find((workload) => !isClusterWorkload(workload));
  refuse(
    clusterDns !== undefined &&
      foreign !== undefined && [
        `--workload: "${foreign}" is not a workload for ${clusterDns.name}`,
        `Use one of ${CLUSTER_WORKLOADS.join(', ')}.`,
      ],
  );
  const ofCluster = workloads.find(isClusterWorkload);
  const deployed = servers.find(({ existing }) => existing === undefined || existing.kind === 'address');
  if (ofCluster === undefined || deployed === undefined) return;
  refuse(
    clusterDns !== undefined && [
      `${clusterDns.name} is queried for names of its cluster, which ${deployed.name} does not have`,
      `Measure it without: --servers ${clusterDns.name}.`,
    ],
  );
  refuse(
    servers.some(({ existing }) => existing?.kind === 'service') && [
      `--workload: "${ofCluster}" asks for names of the cluster, which ${deployed.name} does not have`,
      `Measure without ${deployed.name}, or with a workload over the zone set.`,
    ],
  );
}

/** Whether a workload is of the names of a generated cluster. */
const isOfCluster = (workload: string) => GENERATED_CLUSTER_WORKLOADS.includes(workload);

/** Whether the server, as it would be run, has the names of the workload. */
function hasNames({ answersNamesOf }: Server, workload: string): boolean {
  if (answersNamesOf === 'zones-of-generated-cluster') return workload === 'internal';
  return isOfCluster(workload) === (answersNamesOf === 'generated-cluster');
}

/** Why not, and what to do. */
function withoutNames(
  { answersNamesOf, withoutClusterNames }: Server,
  foreign: string,
  isAlone: boolean,
): [string, string] {
  const all = GENERATED_CLUSTER_WORKLOADS.join(',');
  if (answersNamesOf === 'generated-cluster') return ['', `Give --workload ${all}, or one of them.`];
  if (answersNamesOf !== undefined)
    return [
      ': bench gives it zone files with names of the cluster alone',
      `Give --workload internal; ${all} are for coredns, coredns-cluster and echo.`,
    ];
  const reason = isAlone
    ? (withoutClusterNames ?? 'bench can configure it for the zone set only')
    : 'another workload asks for those of the zone set';
  return [
    `: ${reason}`,
    `Use ${foreign} with coredns or coredns-cluster, internal also with coredns+file, dinodns, knot, nsd and echo, and with no other workloads than ${all}: the names are those of a generated cluster.`,
  ];
}

/** The names of a generated cluster belong to servers that have it, and only to them. */
function demandSameNames(servers: readonly Server[], { workloads }: RunConfiguration): void {
  for (const server of servers.filter(({ existing }) => !existing)) {
    const foreign = workloads.find((workload) => !hasNames(server, workload));
    if (foreign === undefined) continue;
    const [reason, fix] = withoutNames(server, foreign, workloads.every(isOfCluster));
    refuse([`--workload: ${server.name} has no names for the workload "${foreign}"${reason}`, fix]);
  }
}

/** Until the cluster has been asked what names it has. */
function clusterPlaceholder(name: string): BenchWorkload {
  return { name, description: `names of the cluster (${name})`, size: 0, queries: () => [] };
}

/** Names who has the transport, if anybody in the run has. */
function noTransport(server: Server, transport: Transport, servers: readonly Server[]): Refusal {
  const others = servers.filter((other) => transportsOf(other).includes(transport)).map(({ name }) => name);
  return [
    `${server.name} has no transport "${transport}": ${server.name} answers over ${transportsOf(server).join(', ')}`,
    others.length === 0
      ? `Choose from these with --transport, or servers that have ${transport}: \`bench servers\` lists them.`
      : `Compare ${others.join(', ')} over ${transport}, or omit its case: --exclude server=${server.name},transport=${transport}`,
  ];
}

/** Every case must be possible. */
function demandSupport(servers: readonly Server[], plan: Plan, { ip, dnssec }: RunConfiguration): void {
  const unsigned = servers.find(({ readsZoneFiles }) => dnssec && readsZoneFiles !== true);
  refuse(
    unsigned !== undefined && [
      `--dnssec: ${unsigned.name} does not serve signed zones`,
      'Compare servers that do: --servers knot,nsd,dinodns,coredns+file',
    ],
  );
  for (const { server: name, mode, transport } of plan.cases) {
    const server = servers.find((candidate) => candidate.name === name);
    if (server === undefined) continue;
    refuse(!transportsOf(server).includes(transport) && noTransport(server, transport, servers));
    const reason = server.unsupported?.(mode, transport, ip) ?? null;
    refuse(
      reason !== null && [
        `${name} cannot be run with --mode ${mode} --transport ${transport}${ip === 6 ? ' --ip 6' : ''}: ${reason}`,
        `Omit the server, or its case: --exclude server=${name},mode=${mode},transport=${transport}`,
      ],
    );
  }
}

/** What dnsperf cannot send, and what has its own timing. */
function demandLoader(
  { loader, kubernetes }: RunConfiguration,
  plan: Plan,
  workloads: readonly BenchWorkload[],
): void {
  const special = workloads.find((workload) => workload.builtin !== undefined);
  refuse(
    special !== undefined &&
      loader === 'dnsperf' && [
        `--loader: dnsperf cannot send the workload "${special.name}"`,
        'Use --loader builtin, or omit it.',
      ],
  );
  const timed = workloads.find((workload) => workload.builtin?.isTimed === true);
  refuse(
    timed !== undefined &&
      kubernetes.target === 'kubernetes' && [
        `--workload: ${timed.name} is a capture, which is replayed on one machine only`,
        'Use --target local, or a query file.',
      ],
  );
  for (const { workload: name, ratePerSecond } of plan.cases) {
    const workload = workloads.find((candidate) => candidate.name === name);
    refuse(
      ratePerSecond !== null &&
        workload?.builtin?.isTimed === true && [
          `--rate: ${name} is replayed with its own timing, not at ${ratePerSecond} QPS`,
          `Omit --rate, or its cases: --exclude "workload=${name},rate=${ratePerSecond}"; --capture-speed makes it faster.`,
        ],
    );
  }
}

/** Servers, workloads and cases of a run with this configuration. */
async function decideServers(world: World, configuration: RunConfiguration): Promise<DecidedServers> {
  const loaded = await loadServers(world, configuration.servers, configuration);
  const named = configuration.workloads.every(isOfCluster) ? loaded.map(withClusterNames) : loaded;
  demandTarget(named, configuration);
  demandSameNames(named, configuration);
  const servers = byPaths(await locateServers(named, configuration), configuration.kubernetes.path);
  const plan = planOn(world, configuration);
  demandSupport(servers, plan, configuration);
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  const inCluster = servers.some(({ existing }) => existing !== undefined && existing.kind !== 'address');
  const workloads = await Promise.all(
    configuration.workloads.map((name) =>
      inCluster && isClusterWorkload(name)
        ? clusterPlaceholder(name)
        : loadWorkload(world, name, { ...configuration, zoneSet }),
    ),
  );
  demandLoader(configuration, plan, workloads);
  return {
    configuration,
    servers,
    plan: usesDuet(configuration, plan, workloads) ? asDuet(plan, configuration) : plan,
    zoneSet,
    workloads,
  };
}

/** Keys of cases can contain paths: the same file has one, also where the command of a record begins it with `~`. */
function configured(
  { cwd, env }: Pick<World, 'cwd' | 'env'>,
  sources: ConfigurationSources,
): RunConfiguration {
  return withRelativePaths(withHomePaths(configure(sources), env.HOME), cwd);
}

/** A short run, if bench starts the servers and the workloads fit into short trials; otherwise null. */
async function decideShort(
  world: World,
  sources: ConfigurationSources,
  short: ConfigurationSources,
): Promise<DecidedServers | null> {
  const decided = await decideServers(world, configured(world, short));
  const isOurs = decided.servers.every(({ existing }) => existing === undefined);
  if (!isOurs || whyNotShort(decided.workloads) !== null) return null;
  if (decided.configuration.duet === 'off' || decided.plan.duet !== null) return decided;
  // No duet after all: there is only one server, or another setting prevents it.
  return decideServers(world, configured(world, shortRun(sources, { duet: 'off' }) ?? sources));
}

const trialsText = ({ trials, durationSeconds }: RunConfiguration) =>
  `${counted(trials, 'trial')} of ${durationSeconds} s`;

/** Says where trials are longer than the default. */
function noteLongTrials(
  { stderr }: World,
  usual: RunConfiguration,
  { configuration, workloads }: DecidedServers,
) {
  const [from, to] = [usual, configuration].map(trialsText);
  if (from === to) return;
  const reason = whyNotShort(workloads) ?? 'the servers are running already';
  stderr.write(`Note: ${to} of each case, not ${from}: ${reason}.\n`);
}

/** Short trials where they are possible. */
async function decideTrials(
  world: World,
  sources: ConfigurationSources,
  command: string,
): Promise<DecidedServers> {
  const short = shortRun(sources);
  const decided = short === null ? null : await decideShort(world, sources, short);
  if (decided !== null) return decided;
  const long = await decideServers(world, configured(world, sources));
  // Others measure nothing.
  if (short !== null && command === 'run') noteLongTrials(world, configured(world, short), long);
  return long;
}

/** Decides a new run, with a note on stderr for each variable without effect. */
export async function decideRun(
  world: World,
  given: GivenSettings,
  command = 'run',
): Promise<DecidedServers> {
  const sources: ConfigurationSources = {
    ...(given.base === undefined ? {} : { base: given.base }),
    preset: given.preset,
    file: await readConfigurationFile(world, given.file),
    env: world.env,
    flags: given.flags,
    typed: true,
  };
  const decided = await decideTrials(world, sources, command);
  noteIdleVariables(world, command, SETTINGS, settingsOf(decided.configuration));
  return decided;
}

/** Settings under the names that files use, without what is not set; and the plan. */
export async function settleCompare(world: World, given: GivenSettings) {
  const decided = await decideRun(world, given);
  return { settings: settingsOf(decided.configuration), plan: planOf(decided) };
}

/** What is decided as the engine knows it. */
export function planOf(decided: DecidedServers): ExperimentPlan<DecidedServers> {
  const { configuration, servers, plan } = decided;
  return {
    subjects: servers.map(({ name, title }) => ({ name, title })),
    baseline: configuration.baseline,
    cases: plan.cases.map(({ key, server, aa, tier, mode, workload, transport, ratePerSecond }) => ({
      ...{ key, aa, subject: server },
      point: { tier, mode, workload, transport, rate: ratePerSecond ?? 'max' },
      expectedSeconds: plan.secondsPerTrial,
    })),
    decided,
    isTogether: plan.duet !== null,
    show: (format) => (format === 'json' ? `${JSON.stringify(plan, null, 2)}\n` : planText(decided)),
  };
}

function planText({ plan, configuration, servers, workloads }: DecidedServers): string {
  const isCalibrated = needsCalibration(configuration, plan, workloads);
  return (
    renderPlan(plan, configuration, isCalibrated ? calibrationSeconds(servers) : 0) +
    uncheckedText(configuration)
  );
}

export async function planCompare(settings: Settings, world: World): Promise<ExperimentPlan<DecidedServers>> {
  return planOf(await decideServers(world, configurationOf(settings)));
}
