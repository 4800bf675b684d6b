/** One trial on a cluster: a copy of its DNS behind a Service, a steady load from a pod, and one fault meanwhile, or none. */
import {
  isRolledOut,
  isSettled,
  makeFault,
  nodeToDrain,
  type PodFault,
} from '../../../cluster-changes/pod-faults.ts';
import type { PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import { checkAnswers } from '../../../measure/answer-check.ts';
import { lossDetail } from '../../../measure/client-losses.ts';
import { loadFor } from '../../../measure/load.ts';
import { eventLosses } from '../../../measure/load-with-event.ts';
import { openCheckedClient } from '../../../targets/kubernetes/checker.ts';
import { entriesRead, watchConntrack } from '../../../targets/kubernetes/conntrack.ts';
import { memoryOfServers } from '../../../targets/kubernetes/dns-copy/beside.ts';
import { podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import type { RunningCopy } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import { endpointTimes, watchEndpoints } from '../../../targets/kubernetes/endpoints.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { DisruptEvidence } from '../evidence.ts';
import { freshSockets } from '../factors.ts';
import { CONTROL, timesOf } from '../faults.ts';
import { type ClusterPlace, LOOK_SECONDS, podsOfFault, theDns, withCopyAt } from './place.ts';

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
  // Every name of the workload has an answer of its own: the zones do not matter.
  await checkAnswers({ client, server, zoneSet: zoneSetOf(1, ['A']), workload, dnssec: false, signal });
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
  return await withCopyAt(place, planned, (dns) =>
    checked(dns).finally(async () => {
      on.phase('stopping');
      await place.guarded?.session.revertAll();
    }),
  );
}
