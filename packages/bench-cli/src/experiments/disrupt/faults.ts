/** What can be done to a server, to its pods or to its upstream, and where. Pure. */
import type { Behaviour } from '@dinodns-bench/cluster-objects';
import { POD_FAULTS } from '../../cluster-changes/pod-faults.ts';
import type { Point } from '../../engine/experiment.ts';
import { type Refusal, refuse } from '../../errors.ts';
import type { Server } from '../../servers/server.ts';

export const LOCAL_FAULTS = [
  'restart',
  'worker-kill',
  'path-lost',
  'upstream-slow',
  'upstream-silent',
  'upstream-servfail',
  'upstream-refused',
] as const;
export const FAULT_NAMES = [...LOCAL_FAULTS, ...POD_FAULTS] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

interface Fault {
  readonly title: string;
  /** For the method of a report. */
  readonly what: string;
  /** How the upstream behaves meanwhile. Absent for a fault of the server itself. */
  behaviour?(delaySeconds: number): Behaviour;
}

const upstreamError = (code: 'SERVFAIL' | 'REFUSED'): Fault => ({
  title: `upstream ${code}`,
  what: `for --outage, the upstream answers every query with ${code}`,
  behaviour: () => ({ kind: 'error', code }),
});

export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  restart: { title: 'restart', what: 'SIGTERM, --outage without the process, and its start' },
  'worker-kill': { title: 'worker killed', what: 'SIGKILL for one worker process' },
  'path-lost': {
    title: 'path lost',
    what: 'for --outage, no datagram passes between clients and server; a relay of bench lies between them in all trials of such a run',
  },
  'upstream-slow': {
    title: 'upstream slow',
    what: 'for --outage, the upstream answers after --delay',
    behaviour: (delaySeconds) => ({ kind: 'answer', delaySeconds, isStamped: true }),
  },
  'upstream-silent': {
    title: 'upstream silent',
    what: 'for --outage, the upstream does not answer',
    behaviour: () => ({ kind: 'silent' }),
  },
  'upstream-servfail': upstreamError('SERVFAIL'),
  'upstream-refused': upstreamError('REFUSED'),
  rollout: {
    title: 'rolling update',
    what: 'an annotation of the pod template changes, and its controller replaces all pods',
  },
  delete: { title: 'pod deleted', what: 'one pod is deleted with its grace period' },
  kill: { title: 'pod killed', what: 'SIGKILL for the server in one pod, without lameduck' },
  'scale-down': { title: 'scaled down', what: 'the Deployment gets one replica less' },
  drain: { title: 'node drained', what: 'a node is cordoned, and the pods on it are evicted' },
};

/** The subject that faults are compared with. */
export const CONTROL = 'control';

/** From the first query to the fault: long enough to see how it was before. */
export const FAULT_SECONDS = 2;

/** What the load of a trial is, and when the fault begins. */
export const timesOf = ({ duration, timeout }: { readonly duration: number; readonly timeout: number }) => ({
  ...{ afterSeconds: FAULT_SECONDS, durationSeconds: duration, timeoutSeconds: timeout },
});

export const isOfUpstream = (name: FaultName) => FAULTS[name].behaviour !== undefined;

interface Place {
  /** What tells it apart from the others, in the keys of its cases. */
  readonly key: string;
  readonly point: Point;
  readonly expectedSeconds: number;
}

/** Each fault and its control in each of the places. */
export function planFaults(faults: readonly FaultName[], places: readonly Place[]) {
  const subjects = [
    { name: CONTROL, title: CONTROL },
    ...faults.map((name) => ({ name, title: FAULTS[name].title })),
  ];
  const cases = places.flatMap(({ key, ...place }) =>
    subjects.map(({ name }) => ({ ...place, key: `${name}/${key}`, subject: name })),
  );
  return { subjects, cases, baseline: CONTROL };
}

interface Asked {
  readonly fault?: readonly FaultName[] | undefined;
  readonly target: 'local' | 'kubernetes';
}

/** Those that were asked for, or the usual one of the target. */
export const faultsOf = ({ fault, target }: Asked): readonly FaultName[] =>
  fault ?? [target === 'kubernetes' ? 'rollout' : 'restart'];

/** @throws BenchError `E_CONFIG` for a fault of another target */
export function demandPlace(faults: readonly FaultName[], target: Asked['target']): void {
  const isCluster = target === 'kubernetes';
  const possible: readonly FaultName[] = isCluster ? POD_FAULTS : LOCAL_FAULTS;
  const wrong = faults.find((name) => !possible.includes(name));
  const problem = isCluster ? 'is made on one machine only' : 'needs the pods of a cluster';
  const fix = isCluster
    ? `Give ${possible.join(', ')}, or omit --target kubernetes and --in-place.`
    : `Add --target kubernetes, or give ${possible.join(', ')}.`;
  refuse(wrong !== undefined && [`--fault ${wrong} ${problem}`, fix]);
}

/** Why the fault cannot be made with this server, and what to do. */
function obstacle(name: FaultName, server: Server): Refusal {
  if (server.existing !== undefined)
    return ['bench did not start it', 'Give a server that bench starts, such as coredns.'];
  if (server.answersNamesOf !== undefined)
    return ['it has names of its own', 'Use coredns, which forwards to an upstream of ours.'];
  if (name === 'worker-kill' && server.replacesWorkers !== true)
    return [
      'it has no worker processes that it replaces',
      'Give dinodns or dinodns-stock, or use --fault restart.',
    ];
  return (
    isOfUpstream(name) &&
    server.planForwarding === undefined && [
      'bench cannot configure it to forward',
      'Give coredns in any version, or unbound.',
    ]
  );
}

/** @throws BenchError `E_CONFIG` for the first fault that cannot be made, with all others */
export function demandFaults(faults: readonly FaultName[], servers: readonly Server[]): void {
  const refusalOf = (name: FaultName, server: Server): Refusal => {
    const found = obstacle(name, server);
    return found && [`--fault ${name} cannot be made with ${server.name}: ${found[0]}`, found[1]];
  };
  refuse(...faults.flatMap((name) => servers.map((server) => refusalOf(name, server))));
}
