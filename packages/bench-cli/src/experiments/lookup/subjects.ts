/** What is compared in a run, and the order of its trials. Pure. */
import type { LookupOptions } from './options.ts';
import { predict } from './policy/modes.ts';
import type { Subject } from './record.ts';

/** Every resolver with every policy and every client; a part that all have in common is not in the name. */
export function subjectsOf(
  {
    clients,
    policies,
    programDelaySeconds,
  }: Pick<LookupOptions, 'clients' | 'policies' | 'programDelaySeconds'>,
  resolvers: readonly string[],
  synLinearTimeouts: number,
): Subject[] {
  const modes = policies.length === 0 ? [null] : policies;
  return resolvers.flatMap((resolver) =>
    modes.flatMap((policy) =>
      clients.map((client): Subject => {
        const parts = [
          ...(resolvers.length > 1 || (modes.length === 1 && clients.length === 1) ? [resolver] : []),
          ...(policy !== null && (modes.length > 1 || resolvers.length === 1) ? [policy] : []),
          ...(clients.length > 1 ? [client] : []),
        ];
        return {
          key: [...new Set(parts)].join('/'),
          resolver,
          client,
          policy,
          conditions: {},
          prediction: policy === null ? null : predict(policy, programDelaySeconds, synLinearTimeouts),
        };
      }),
    ),
  );
}

/**
 * How far apart samples start, in seconds. A process that starts after a pause finds the processor's caches cold, and its lookup takes
 * milliseconds longer. So the modes of a simulation, which make samples wait for different times, all sample at the pace of
 * the slowest.
 */
export function paceOf({ paceSeconds }: Pick<LookupOptions, 'paceSeconds'>, subjects: readonly Subject[]) {
  const predicted = subjects.map(({ prediction }) =>
    prediction === null ? 0 : prediction.lookupSeconds + prediction.connectSeconds,
  );
  return paceSeconds ?? Math.max(0, ...predicted);
}

export interface PlannedTrial<S> {
  readonly subject: S;
  readonly round: number;
  readonly order: number;
}

/** Each round has every subject once, every second one backwards, so that a slow drift hits all alike. */
export function interleaved<S>(subjects: readonly S[], rounds: number): PlannedTrial<S>[] {
  return Array.from({ length: rounds }, (_, round) => (round % 2 === 0 ? subjects : subjects.toReversed()))
    .flatMap((order, round) => order.map((subject) => ({ subject, round })))
    .map((trial, order) => ({ ...trial, order }));
}
