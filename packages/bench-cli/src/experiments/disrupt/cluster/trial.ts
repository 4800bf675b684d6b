/** One trial on a cluster: a copy of its DNS behind a Service, a steady load from a pod, and one fault meanwhile, or none. */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import type { Guarded } from '../../../cluster-changes/guarded.ts';
import {
  isRolledOut,
  isSettled,
  makeFault,
  nodeToDrain,
  type PodFault,
  type Pods,
} from '../../../cluster-changes/pod-faults.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import type { PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import type { Loader } from '../../../loaders/loader.ts';
import { checkAnswers } from '../../../measure/answer-check.ts';
import { lossDetail } from '../../../measure/client-losses.ts';
import { loadFor } from '../../../measure/load.ts';
import { eventLosses } from '../../../measure/load-with-event.ts';
import type { Server } from '../../../servers/server.ts';
import { openCheckedClient } from '../../../targets/kubernetes/checker.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { entriesRead, watchConntrack } from '../../../targets/kubernetes/conntrack.ts';
import { memoryOfServers } from '../../../targets/kubernetes/dns-copy/beside.ts';
import { podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { copyObjects } from '../../../targets/kubernetes/dns-copy/objects.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import {
  type CopyRequest,
  type RunningCopy,
  withCopy,
} from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import { breakable, copyAt, graceSecondsOf } from '../../../targets/kubernetes/dns-copy/variants.ts';
import { endpointTimes, watchEndpoints } from '../../../targets/kubernetes/endpoints.ts';
import type { ConfigMapMount } from '../../../targets/kubernetes/objects/pods.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import type { DisruptEvidence } from '../evidence.ts';
import { freshSockets } from '../factors.ts';
import { CONTROL, timesOf } from '../faults.ts';
import type { DisruptSettings } from '../settings.ts';

export interface DecidedCluster {
  readonly copy: CopyPlan;
  readonly faults: readonly PodFault[];
  /** Of the subjects' points. */
  readonly server: string;
  /** The ClusterRole that lets copies read the cluster. */
  readonly role: string;
  /** Of the objects outside the namespace of the run that faults change: nodes, or the DNS itself. */
  readonly changedPaths: readonly string[];
}

/** What all trials of a run on a cluster share. */
export interface ClusterPlace {
  readonly run: ClusterRun;
  readonly api: ClusterApi;
  readonly copy: CopyPlan;
  readonly beside: ConfigMapMount;
  readonly settings: DisruptSettings;
  readonly loader: Loader;
  readonly server: Server;
  /** Unused: every name of the workload has an answer of its own. */
  readonly zoneSet: ZoneSet;
  readonly workload: BenchWorkload;
  readonly queryFile: string;
  readonly rawDirectory: string;
  /** For changes outside of the namespace of the run; null without any. */
  readonly guarded: Guarded | null;
  /** Of those changes: the objects, by their paths of the API. */
  readonly protectedPaths: readonly string[];
  /** Rolls out the DNS itself, which is measured then; null for copies. */
  readonly roll: ((begins: () => void) => Promise<void>) | null;
  readonly signal: AbortSignal;
}

/** A copy as the point has it. */
function copyOf(place: ClusterPlace, planned: PlannedTrial): CopyRequest {
  const { run, beside, signal } = place;
  // The plan has no other values.
  const copy = copyAt(place.copy, planned.case.point as { lameduck?: number; replicas?: number });
  const objects = copyObjects(run, copy, copy.workload.image, `dns-${planned.order + 1}`);
  const deployment = breakable(objects, copy, { image: run.images.loader, mount: beside });
  const request = { run, copy, objects: { ...objects, deployment }, signal };
  return { ...request, what: 'the copy of the DNS', graceSeconds: graceSecondsOf(copy) };
}

const podsOfFault = (
  place: ClusterPlace,
  { workload, pods: before }: RunningCopy,
  signal: AbortSignal,
): Pods => ({ ...place, client: place.run.client, workload, before, signal });

/**
 * The DNS of the cluster itself, once the rolling update before is over.
 * @throws BenchError `E_POD_TIMEOUT` if it is not in time
 */
async function theDns(place: ClusterPlace): Promise<RunningCopy> {
  const { run, signal, settings } = place;
  const { workload } = place.copy;
  const { readyTime: seconds } = settings;
  const found = { workload, pods: [], startSeconds: 0 };
  const pods = podsOfFault(place, found, signal);
  await waitUntil({
    ...{ clock: run.client.clock, seconds, pollSeconds: LOOK_SECONDS, signal },
    problem: async () => ((await isSettled('rollout', pods)) ? null : 'it is not at rest'),
    late: () =>
      new BenchError('E_POD_TIMEOUT', `${workload.title} was not at rest within ${seconds} seconds`, {
        fix: 'See what its pods wait for with `kubectl rollout status`, or raise --ready-time.',
      }),
  });
  return { ...found, pods: await podsOf(run.client, workload, signal) };
}

/** @throws BenchError `E_WRONG_ANSWER` */
async function check(place: ClusterPlace, { workload: dns, pods }: RunningCopy): Promise<void> {
  const { run, server, workload, signal } = place;
  const client = await openCheckedClient(run, {
    service: { address: dns.service.address, port: 53 },
    pods: pods.map(({ status }) => ({ address: status?.podIP ?? '', port: dns.podPort })),
    transport: 'udp',
    workload,
    readiness: { name: 'kubernetes.default.svc.cluster.local', type: 'A' },
    signal,
  });
  await checkAnswers({ client, server, zoneSet: place.zoneSet, workload, dnssec: false, signal });
}

async function measure(
  place: ClusterPlace,
  planned: PlannedTrial,
  on: TrialEvents,
  copy: RunningCopy,
): Promise<DisruptEvidence> {
  const { run, settings, loader, rawDirectory, queryFile, signal: outer } = place;
  const { client, world } = run;
  const { namespace, service } = copy.workload;
  const { point, subject } = planned.case;
  const fault = subject as PodFault | typeof CONTROL;
  const endpoint = { address: service.address, port: 53, instances: copy.pods.length };
  const sockets = freshSockets(settings, point);
  const { rate, duration, timeout } = settings;
  // Which pods are ready has to be known before entries that lead to others are counted.
  await using endpoints = await watchEndpoints(client, { namespace, service: service.name }, outer);
  const reading = { address: service.address, runSeconds: WATCH_SECONDS + duration, signal: outer };
  await using conntrack = settings.conntrack ? await watchConntrack(run, reading) : null;
  const { losses, beganSeconds } = await eventLosses({
    ...{ clock: world.clock, on, signal: outer, event: fault, expected: EXPECTED, ...timesOf(settings) },
    // The DNS itself has no program beside it.
    memoryNow: async () =>
      place.roll === null ? memoryOfServers(client, await podsOf(client, copy.workload, outer), outer) : null,
    async load({ onStarted, onRate }) {
      const outcome = await loader.load({
        ...{ endpoint, queryFile, onStarted, signal: outer },
        ...{ transport: 'udp', source: null, dnssecOk: false, openLoop: true },
        ...{ durationSeconds: duration, ratePerSecond: rate, timeoutSeconds: timeout },
        detail: lossDetail(sockets === null, EXPECTED),
        ...loadFor({ clients: settings.clients, threads: 1, outstanding: 100 }, endpoint),
        ...(sockets === null ? {} : { clients: sockets }),
        threads: 1,
        outputFile: `${rawDirectory}/trial-${planned.order + 1}.txt`,
        onProgress: onRate,
      });
      return [outcome];
    },
    async act({ signal, isOver, begins }) {
      if (fault === CONTROL) return;
      const pods = podsOfFault(place, copy, signal);
      await (place.roll?.(begins) ?? makeFault(fault, pods, begins));
      while (!isOver() && !(await isSettled(fault, pods))) await world.clock.sleep(LOOK_SECONDS, signal);
    },
  });
  const isWhole = await isRolledOut(podsOfFault(place, copy, outer));
  const changes = endpointTimes(endpoints.readings, beganSeconds);
  const entries =
    conntrack &&
    entriesRead(conntrack, endpoints.readings, beganSeconds, (reason) =>
      on.warning(`trial ${planned.order + 1} has no figures of the connection tracking: ${reason}`),
    );
  return {
    ...losses,
    nodes: copy.pods.map(({ spec }) => spec?.nodeName ?? ''),
    // Otherwise the last change is still to come.
    endpoints: isWhole ? changes : { ...changes, backSeconds: null },
    ...(entries === null ? {} : { conntrack: entries }),
  };
}

/** The answers were checked: all names exist. */
const EXPECTED = new Set(['NOERROR']);

/** How long the reader of the connection tracking may run besides the load, which has to start and to end. */
const WATCH_SECONDS = 120;

/** How often it is looked whether the fault is over. */
const LOOK_SECONDS = 0.25;

export async function clusterTrial(
  place: ClusterPlace,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<DisruptEvidence> {
  on.phase('starting');
  const checked = async (dns: RunningCopy) => {
    if (planned.case.subject === 'drain') nodeToDrain(dns.pods, place.protectedPaths);
    on.phase('checking answers');
    await check(place, dns);
    return await measure(place, planned, on, dns);
  };
  if (place.roll !== null) return await checked(await theDns(place));
  return await withCopy(copyOf(place, planned), (dns) =>
    checked(dns).finally(async () => {
      on.phase('stopping');
      await place.guarded?.session.revertAll();
    }),
  );
}
