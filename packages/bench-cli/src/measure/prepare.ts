/** Prepares everything before the first trial, on this machine or on a cluster. */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import { describeEnvironment } from '../environment/describe.ts';
import { BenchError } from '../errors.ts';
import { createBuiltinJob } from '../loaders/builtin/builtin-job.ts';
import { createDnsperfJob } from '../loaders/dnsperf/dnsperf.ts';
import { obstacleToCounters } from '../observe/hardware-counters.ts';
import { planWithDuet } from '../plan/duet.ts';
import { blocksOfTrials, type Plan, type PlannedCase } from '../plan/plan.ts';
import type { Display } from '../progress/display.ts';
import { parseQuantity } from '../quantity.ts';
import type { Environment, RunRecord } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { clusterWorkload, isClusterWorkload } from '../targets/kubernetes/cluster-workloads.ts';
import {
  cacheWarnings,
  existingServiceWarning,
  findService,
} from '../targets/kubernetes/existing-service.ts';
import { imagesOf, loaderKindOf } from '../targets/kubernetes/images.ts';
import { inspectImages } from '../targets/kubernetes/inspect-images.ts';
import { coresOfServerNode, createKubernetesTarget } from '../targets/kubernetes/kubernetes-target.ts';
import { cpusText, demandPlaces } from '../targets/kubernetes/node-room.ts';
import { type OpenedCluster, openCluster } from '../targets/kubernetes/open-cluster.ts';
import { type BenchWorkload, readinessQueries } from '../workload/workload.ts';
import type { World } from '../world.ts';
import { echoOf, needsCalibration } from './needs-calibration.ts';
import { demandRunning } from './preflight.ts';
import { openLocalSession, type Programs, preparePrograms, type Session } from './session.ts';
import {
  answerWarnings,
  clusterNameWarnings,
  clusterWarnings,
  existingWarnings,
  loaderWarnings,
  runWarnings,
  serverWarnings,
} from './warnings.ts';

export interface PrepareRequest {
  readonly world: World;
  readonly runId: string;
  readonly configuration: RunConfiguration;
  readonly servers: readonly Server[];
  readonly plan: Plan;
  readonly workloads: readonly BenchWorkload[];
  readonly zoneSet: ZoneSet;
  readonly display: Display;
  readonly signal: AbortSignal;
  /** Aborted by the second Ctrl-C: stop waiting. */
  readonly force: AbortSignal;
}

/** The caller must always close its session. */
export interface Prepared {
  readonly session: Session;
  readonly programs: Pick<Programs, 'provisioned' | 'servers' | 'programOf'>;
  readonly environment: Environment;
  /** The plan, with the cases marked that are contended, which only the target knows. */
  readonly plan: Plan;
  /** The workloads; for the cluster's own DNS, the names of the cluster. */
  readonly workloads: readonly BenchWorkload[];
  readonly warnings: (cpuLimits: RunRecord['cpuLimits']) => readonly string[];
}

export function prepareRun(request: PrepareRequest): Promise<Prepared> {
  return request.configuration.kubernetes.target === 'kubernetes'
    ? prepareCluster(request)
    : prepareMachine(request);
}

async function prepareMachine(request: PrepareRequest): Promise<Prepared> {
  const { world, runId, configuration, servers, plan, zoneSet, display, signal, force } = request;
  const [query] = readinessQueries(zoneSet);
  if (query === undefined) throw new Error('a zone set without a record');
  await demandRunning(world, servers, plan.cases, query, signal);
  const obstacle = await obstacleToCounters(world);
  const environment = {
    ...(await describeEnvironment(world)),
    hardwareCounters: { used: obstacle === null, reason: obstacle },
  };
  const helpers = needsCalibration(configuration, plan, request.workloads) ? [echoOf(configuration)] : [];
  const programs = await preparePrograms(
    world,
    servers,
    configuration,
    request.workloads,
    display,
    signal,
    helpers,
  );
  const session = await openLocalSession({
    world,
    runId,
    configuration,
    choice: programs.loader,
    cases: plan.cases,
    signal,
    force,
  });
  return {
    session,
    programs,
    environment,
    plan,
    workloads: request.workloads,
    warnings: (cpuLimits) => [
      ...answerWarnings(configuration),
      ...existingWarnings(servers),
      ...clusterNameWarnings(servers),
      ...loaderWarnings(programs.loader),
      ...serverWarnings(programs.servers),
      ...runWarnings(configuration, plan, environment, cpuLimits),
    ],
  };
}

/** What the pods of a case request together. */
function coresOf({ kubernetes }: RunConfiguration, { tier, instances }: PlannedCase): number {
  const request = parseQuantity(kubernetes.cpuRequest);
  return request === null ? tier : request * instances;
}

/** The largest CPU request of the servers that are up at once: those of a case, in a duet those of a point. */
function requestedCores({ plan, configuration }: PrepareRequest): number {
  const together = plan.duet === null ? plan.trials.map((trial) => [trial]) : blocksOfTrials(plan.trials);
  return Math.max(
    ...together.map((trials) => trials.reduce((sum, trial) => sum + coresOf(configuration, trial.case), 0)),
  );
}

/** The pods that bench makes, by case. */
function replicasOf({ plan, configuration, servers }: PrepareRequest) {
  const found = new Set(servers.filter(({ existing }) => existing !== undefined).map(({ name }) => name));
  return plan.cases
    .filter(({ server }) => !found.has(server))
    .map((item) => ({ count: item.instances, cores: coresOf(configuration, item) }));
}

/** Servers that do not fit beside each other would only show as trials that fail, after minutes. */
function demandRoom(
  { plan }: PrepareRequest,
  cores: number,
  { sharedCpus, cluster }: Pick<OpenedCluster, 'sharedCpus' | 'cluster'>,
): void {
  const suitable = cluster.nodes.filter(({ roles }) => roles.length > 0);
  if (plan.duet === null || suitable.length > 1 || cores <= sharedCpus) return;
  throw new BenchError(
    'E_POD_UNSCHEDULABLE',
    `--duet: all servers of a round are up at once and request ${cpusText(cores)} together, and the only suitable node has ${cpusText(sharedCpus)}`,
    {
      fix: 'Compare fewer servers, choose a smaller tier or a smaller --cpu-request (its servers wait for each other), or omit --duet.',
    },
  );
}

async function prepareCluster(request: PrepareRequest): Promise<Prepared> {
  const { world, runId, configuration, servers, display, signal, force } = request;
  const { kubernetes: settings } = configuration;
  const loaderKind = loaderKindOf(configuration, request.workloads);
  const machine = await describeEnvironment(world);
  const serverCores = requestedCores(request);
  display.live('  connecting to the cluster');
  const opened = await openCluster({
    world,
    runId,
    settings,
    images: imagesOf(settings, loaderKind),
    loadSeconds: configuration.durationSeconds,
    serverCores,
    loaders: configuration.loaders,
    signal,
    force,
  });
  try {
    demandRoom(request, serverCores, opened);
    demandPlaces(settings.replicas, replicasOf(request), opened.cluster.nodes);
    if (request.plan.cases.some(({ mode }) => mode === 'multi')) coresOfServerNode(opened.run);
    display.line(`Namespace ${opened.run.namespace} on ${opened.run.client.context}`);
    display.live('  inspecting the images');
    const inspected = await inspectImages(opened.run, servers, loaderKind, signal);
    const { client } = opened.run;
    const inCluster = servers.flatMap(({ name, existing }) =>
      existing === undefined || existing.kind === 'address' ? [] : [{ name, existing }],
    );
    const workloads = await Promise.all(
      request.workloads.map((workload) =>
        inCluster.length > 0 && isClusterWorkload(workload.name)
          ? clusterWorkload(client, workload.name, signal)
          : workload,
      ),
    );
    const told = await Promise.all(
      inCluster.map(async ({ name, existing }) => {
        const found = await findService(client, existing, signal);
        const isDns = existing.kind === 'cluster-dns';
        const caches = isDns ? await cacheWarnings(client, found.namespace, signal) : [];
        return [existingServiceWarning(name, found), ...caches];
      }),
    );
    const createLoader = loaderKind === 'builtin' ? createBuiltinJob : createDnsperfJob;
    const target = createKubernetesTarget({ run: opened.run, readinessQueries, force });
    const plan = planWithDuet(configuration, opened.sharedCpus, workloads);
    return {
      session: {
        target,
        loader: createLoader(opened.run, inspected.loaderVersion),
        close: async () => {
          // Remove the namespace even if deployments cannot be removed.
          await target.close().catch(() => undefined);
          await opened.close();
        },
      },
      programs: {
        provisioned: inspected.provisioned,
        servers: inspected.servers,
        programOf: () => [],
      },
      environment: { ...machine, cluster: opened.cluster },
      plan,
      workloads,
      warnings: () => [
        ...answerWarnings(configuration),
        ...opened.warnings,
        ...clusterNameWarnings(servers),
        ...serverWarnings(inspected.servers),
        ...told.flat(),
        ...clusterWarnings(plan, opened.sharedCpus, opened.run.observation),
      ],
    };
  } catch (error) {
    await opened.close().catch(() => undefined);
    throw error;
  }
}
