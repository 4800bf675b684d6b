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

/** From the first query to the fault: long enough to see how it was before. */
export const FAULT_SECONDS = 2;

/** The subject that faults are compared with. */
export const CONTROL = 'control';

export const FAULT_TITLES: Readonly<Record<FaultName, string>> = {
  restart: 'restart',
  'worker-kill': 'worker killed',
  'upstream-slow': 'upstream slow',
  'upstream-silent': 'upstream silent',
  'upstream-servfail': 'upstream SERVFAIL',
  'upstream-refused': 'upstream REFUSED',
};

/** How the upstream behaves during a fault; null for a fault of the server. */
export function behaviourOf(fault: string, { delay }: { readonly delay: number }): Behaviour | null {
  switch (fault) {
    case 'upstream-slow':
      return { kind: 'answer', delaySeconds: delay };
    case 'upstream-silent':
      return { kind: 'silent' };
    case 'upstream-servfail':
      return { kind: 'error', code: 'SERVFAIL' };
    case 'upstream-refused':
      return { kind: 'error', code: 'REFUSED' };
    default:
      return null;
  }
}

export function isOfUpstream(fault: FaultName): boolean {
  return fault.startsWith('upstream-');
}

/** Null if the fault can be made with this server. */
function obstacle(
  fault: FaultName,
  server: Server,
): { readonly problem: string; readonly fix: string } | null {
  if (server.existing !== undefined)
    return { problem: 'bench did not start it', fix: 'Give a server that bench starts, such as coredns.' };
  if (server.answersNamesOf !== undefined)
    return { problem: 'it has names of its own', fix: 'Use coredns, which forwards to an upstream of ours.' };
  if (fault === 'worker-kill' && server.replacesWorkers !== true)
    return {
      problem: 'it has no worker processes that it replaces',
      fix: 'Give dinodns or dinodns-stock, or use --fault restart.',
    };
  if (isOfUpstream(fault) && server.planForwarding === undefined)
    return {
      problem: 'bench cannot configure it to forward',
      fix: 'Give coredns in any version, or unbound; faults of the upstream and of workers need runs of their own.',
    };
  return null;
}

/** @throws BenchError `E_CONFIG` for the first fault that cannot be made, with all others */
export function demandFaults(faults: readonly FaultName[], servers: readonly Server[]): void {
  const found = faults.flatMap((fault) =>
    servers.flatMap((server) => {
      const reason = obstacle(fault, server);
      return reason === null
        ? []
        : [
            {
              text: `--fault ${fault} cannot be made with ${server.name}: ${reason.problem}`,
              fix: reason.fix,
            },
          ];
    }),
  );
  const [first, ...others] = found;
  if (first === undefined) return;
  throw new BenchError('E_CONFIG', first.text, { evidence: others.map(({ text }) => text), fix: first.fix });
}
