/** What can be done to a server or to its upstream, and which servers it can be done to. Pure. */
import type { Behaviour } from '@dinodns-bench/cluster-objects';
import { BenchError } from '../../errors.ts';
import type { Server } from '../../servers/server.ts';

export const FAULT_NAMES = [
  'restart',
  'worker-kill',
  'upstream-slow',
  'upstream-silent',
  'upstream-servfail',
  'upstream-refused',
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

interface Fault {
  readonly title: string;
  /** How the upstream behaves meanwhile. Absent for a fault of the server itself. */
  behaviour?(delaySeconds: number): Behaviour;
}

export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  restart: { title: 'restart' },
  'worker-kill': { title: 'worker killed' },
  'upstream-slow': {
    title: 'upstream slow',
    behaviour: (delaySeconds) => ({ kind: 'answer', delaySeconds }),
  },
  'upstream-silent': { title: 'upstream silent', behaviour: () => ({ kind: 'silent' }) },
  'upstream-servfail': {
    title: 'upstream SERVFAIL',
    behaviour: () => ({ kind: 'error', code: 'SERVFAIL' }),
  },
  'upstream-refused': { title: 'upstream REFUSED', behaviour: () => ({ kind: 'error', code: 'REFUSED' }) },
};

/** The subject that faults are compared with. */
export const CONTROL = 'control';

/** From the first query to the fault: long enough to see how it was before. */
export const FAULT_SECONDS = 2;

export function needsUpstream(faults: readonly FaultName[]): boolean {
  return faults.some((name) => FAULTS[name].behaviour !== undefined);
}

/** Why the fault cannot be made with this server, and what to do; null if it can. */
function obstacle(name: FaultName, server: Server): readonly [problem: string, fix: string] | null {
  if (server.existing !== undefined)
    return ['bench did not start it', 'Give a server that bench starts, such as coredns.'];
  if (server.answersNamesOf !== undefined)
    return ['it has names of its own', 'Use coredns, which forwards to an upstream of ours.'];
  if (name === 'worker-kill' && server.replacesWorkers !== true)
    return [
      'it has no worker processes that it replaces',
      'Give dinodns or dinodns-stock, or use --fault restart.',
    ];
  if (FAULTS[name].behaviour !== undefined && server.planForwarding === undefined)
    return ['bench cannot configure it to forward', 'Give coredns in any version, or unbound.'];
  return null;
}

/** @throws BenchError `E_CONFIG` for the first fault that cannot be made, with all others */
export function demandFaults(faults: readonly FaultName[], servers: readonly Server[]): void {
  const found = faults.flatMap((name) =>
    servers.flatMap((server) => {
      const [problem, fix = ''] = obstacle(name, server) ?? [];
      const text = `--fault ${name} cannot be made with ${server.name}: ${problem}`;
      return problem === undefined ? [] : [{ text, fix }];
    }),
  );
  const [first, ...others] = found;
  if (first === undefined) return;
  throw new BenchError('E_CONFIG', first.text, { evidence: others.map(({ text }) => text), fix: first.fix });
}
