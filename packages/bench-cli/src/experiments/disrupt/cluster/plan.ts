/** What is disrupted on a cluster: a copy of its DNS at each point of the factors. Reads only. */
import { openChangeable } from '../../../cluster-changes/connected-api.ts';
import { readRoleOf } from '../../../cluster-changes/copy-rights.ts';
import { explained } from '../../../cluster-changes/explain.ts';
import type { PodFault } from '../../../cluster-changes/pod-faults.ts';
import type { Point } from '../../../engine/experiment.ts';
import { pointKey, pointsOf } from '../../../engine/factors.ts';
import { type Refusal, refuse } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { loadFor } from '../../../measure/load.ts';
import { chosenPlacement, nodesFor } from '../../../targets/kubernetes/cluster-facts.ts';
import {
  type Placement,
  placementGaps,
  placementOf,
} from '../../../targets/kubernetes/dns-copy/carry-over.ts';
import { choiceOf, findWorkload, serverNameOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { type CopyPlan, demandApart, planCopy } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import { lameduckOf, withLameduck } from '../../../targets/kubernetes/dns-copy/variants.ts';
import type { World } from '../../../world.ts';
import type { DisruptPlan } from '../evidence.ts';
import { FAULT_SECONDS, planFaults } from '../faults.ts';
import type { DisruptSettings } from '../settings.ts';
import type { DecidedCluster } from './place.ts';

/** Planning takes a few requests. */
const LIMIT_MS = 60_000;

/** Starting pods, checking answers, and removing them, besides their lameduck. */
const SPARE_SECONDS = 25;

/** Pods that a fault needs so that somebody is left who could answer. */
const LEAST_REPLICAS: Partial<Record<PodFault, number>> = { 'scale-down': 2, drain: 2 };

function demandReplicas(faults: readonly PodFault[], counts: readonly number[]): void {
  const refusalOf = (fault: PodFault): Refusal => {
    const least = LEAST_REPLICAS[fault] ?? 1;
    const few = counts.find((count) => count < least);
    return (
      few !== undefined && [
        `--fault ${fault} needs ${least} pods, and there is ${few}`,
        `Give --factors replicas=${least} or more.`,
      ]
    );
  };
  refuse(...faults.map(refusalOf));
}

/** Until new pods run and the old ones are gone, besides their lameduck: 1 to 5 s in published rolling updates of one or two pods. */
const CHANGE_SECONDS = 5;

function demandLong({ duration }: DisruptSettings, lameduckSeconds: number): void {
  const least = FAULT_SECONDS + lameduckSeconds + CHANGE_SECONDS;
  refuse(
    duration < least && [
      `--duration: ${duration} s is too short for a lameduck of ${lameduckSeconds} s`,
      `Use at least ${least} s, and more for a rolling update of many pods: the old ones have to end before the load does.`,
    ],
  );
}

/**
 * A packet shows in the time that its entry has left, in whole seconds: nodes do not count packets by default. With one packet in
 * each half of a second, no entry in use looks unused.
 */
const LEAST_PACKETS_PER_SECOND = 2;

/** @throws BenchError `E_CONFIG` where sockets that are used again send too seldom; the entry of a fresh one is new itself */
export function demandOften(
  { conntrack, rate, clients, factors }: Pick<DisruptSettings, 'conntrack' | 'rate' | 'clients' | 'factors'>,
  instances: number,
): void {
  const { sockets: kinds = ['reused'] } = factors;
  const { clients: sockets } = loadFor({ clients, threads: 1, outstanding: 1 }, { instances });
  refuse(
    conntrack &&
      kinds.includes('reused') &&
      rate < LEAST_PACKETS_PER_SECOND * sockets && [
        `--conntrack cannot tell which entries are used: each of ${sockets} sockets sends less than ${LEAST_PACKETS_PER_SECOND} packets a second at --rate ${rate}`,
        `Give --rate ${LEAST_PACKETS_PER_SECOND * sockets} or more, or omit --conntrack.`,
      ],
  );
}

/** For a dry run. */
function summaryOf(
  { inPlace }: DisruptSettings,
  { workload, notCarriedOver }: CopyPlan,
  nodes: number,
): string {
  const { title, image, service } = workload;
  const found = `Found: ${title}, ${image}, behind Service ${service.name} (${service.address})`;
  if (inPlace)
    return `${found}\nWould be changed and put back: an annotation of its pod template, so that its pods are replaced`;
  return [
    found,
    'Would be created, in a namespace of the run that is removed at the end: copies of it, and load generators',
    `Would be changed: ${nodes === 0 ? 'nothing' : `one of ${nodes} nodes, cordoned during each drain`}`,
    ...notCarriedOver.map((what) => `Not carried over to the copies: ${what}`),
  ].join('\n');
}

/** Paths of the nodes that take the pods. @throws BenchError `E_CONFIG` if there is one only */
async function nodesToDrain(
  client: KubeClient,
  chosen: Placement,
  { spec }: CopyPlan,
  signal: AbortSignal,
): Promise<string[]> {
  const { items } = await client.list('Node', {}, signal);
  const nodes = nodesFor(items, placementOf(chosen, spec));
  refuse(
    nodes.length < 2 && [
      '--fault drain needs two nodes that take the pods, and there is one',
      'Use rollout, delete, kill or scale-down.',
    ],
  );
  return nodes.map(({ metadata }) => `/api/v1/nodes/${metadata?.name}`);
}

/** What cannot be done to the DNS itself. */
function demandInPlace({ factors }: DisruptSettings, faults: readonly PodFault[]): void {
  const fault = faults.find((name) => name !== 'rollout');
  const factor = ['lameduck', 'replicas'].find((name) => Object.hasOwn(factors, name));
  const wrong = fault === undefined ? factor && `--factors: ${factor}` : `--fault ${fault}`;
  refuse(
    wrong !== undefined && [
      `${wrong} is for copies of the DNS, and --in-place changes the DNS itself`,
      'Omit --in-place, or use it with --fault rollout and the sockets as the only factor.',
    ],
  );
}

export async function planOnCluster(
  settings: DisruptSettings,
  faults: readonly PodFault[],
  world: World,
): Promise<DisruptPlan> {
  if (settings.inPlace) demandInPlace(settings, faults);
  const signal = AbortSignal.timeout(LIMIT_MS);
  const { client } = await openChangeable(world, settings.context, signal);
  const workload = await findWorkload(client, choiceOf(settings), signal);
  const planned = await planCopy(client, workload, settings.inPlace ? null : '--in-place', signal);
  const placed = settings.serverNode === undefined ? [] : placementGaps(planned.spec);
  const copy = { ...planned, notCarriedOver: [...planned.notCarriedOver, ...placed] };
  const { lameduck = [], replicas: counts = [copy.replicas] } = settings.factors;
  const replicas = counts.map(Number);
  demandReplicas(faults, replicas);
  demandOften(settings, Math.max(...replicas));
  const chosen = chosenPlacement(settings.serverNode, settings.serverTolerations);
  const fix =
    'Give --factors replicas=… fewer, or choose a node with --server-node: then copies have no such rule.';
  if (!settings.inPlace)
    await demandApart(client, copy, chosen, { pods: Math.max(...replicas), fix }, signal);
  // As in the Corefile where it is no factor; without the plugin, it cannot be one.
  for (const seconds of lameduck) withLameduck(copy.corefile, Number(seconds));
  const points = pointsOf(settings.factors);
  const lameduckAt = (point: Point) => Number(point.lameduck ?? lameduckOf(copy.corefile));
  // A killed pod has no lameduck.
  if (faults.some((name) => name !== 'kill')) demandLong(settings, Math.max(...points.map(lameduckAt)));
  const nodes = faults.includes('drain') ? await nodesToDrain(client, chosen, copy, signal) : [];
  const server = serverNameOf(workload.image);
  const decided: DecidedCluster = {
    ...{ copy, faults, server, role: settings.readRole ?? readRoleOf(workload) },
    changedPaths: settings.inPlace ? [workload.path] : nodes,
  };
  return {
    ...planFaults(
      faults,
      points.map((point) => ({
        key: `${server}${pointKey(point)}`,
        point: { server, ...point },
        expectedSeconds: settings.duration + SPARE_SECONDS + lameduckAt(point),
      })),
    ),
    decided: {
      async open(request) {
        const { openOnCluster } = await import('./open.ts');
        return explained(() => openOnCluster({ ...request, decided }));
      },
    },
    summary: summaryOf(settings, copy, nodes.length),
    interruption: {
      first: 'putting back and removing what this run has made; once more not to wait for it',
      again: 'not waiting; the cluster goes on: `bench swap status` shows what is not put back',
    },
  };
}
