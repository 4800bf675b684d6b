/** `bench swap status`: what a run has changed, and what of it is put back. Changes nothing. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';
import { printJson, writeText } from '../output.ts';
import { findRuns } from '../targets/kubernetes/run-namespace.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';
import { type Change, describeChange } from './change.ts';
import { openChangeable } from './connected-api.ts';
import { isPending, type Journal, readJournal } from './journal.ts';
import { type Lease, readLease } from './lease.ts';

export interface StatusOptions {
  readonly context: string | undefined;
  readonly leaseNamespace: string;
  readonly json: boolean;
}

const LIMIT_MS = 60_000;

function leaseLine(lease: Lease | null, now: Date): string {
  if (lease === null) return 'Nobody holds the Lease.';
  const age = Math.round((now.getTime() - Date.parse(lease.renewedAt)) / 1000);
  const state = age > lease.durationSeconds ? 'expired' : 'held';
  return `Lease: ${state}, by ${lease.holder}, renewed ${age} s ago (lasts ${lease.durationSeconds} s)`;
}

/** A change in words, with what was found instead. */
export function withFound(change: Change): string {
  return `${describeChange(change)}${change.found === null ? '' : ` (${change.found})`}`;
}

/** Where else there may be a journal: runs say so of their namespaces. Empty for a user who may not list these. */
export async function otherJournals(
  client: KubeClient,
  { leaseNamespace }: Pick<StatusOptions, 'leaseNamespace'>,
  now: Date,
  signal: AbortSignal,
): Promise<string[]> {
  const runs = await findRuns(client, now, signal).catch((error: unknown) => {
    if (error instanceof BenchError && error.code === 'E_CLUSTER_FORBIDDEN') return [];
    throw error;
  });
  return runs.flatMap(({ runId, journalNamespace: at }) =>
    at === null || at === leaseNamespace
      ? []
      : [`Run ${runId} has its journal in namespace ${at}: look there with --lease-namespace ${at}.`],
  );
}

function journalLines(journal: Journal): string[] {
  const pending = journal.changes.filter(isPending).length;
  return [
    `Run ${journal.runId} (${journal.experiment}), in namespace ${journal.namespace}: ${counted(pending, 'change')} to put back`,
    ...journal.changes.map((change) => `  ${change.state.padEnd(10)}  ${withFound(change)}`),
    ...(journal.changes.some(({ state }) => state === 'superseded')
      ? ['Superseded changes were left alone, because somebody else has changed them since.']
      : []),
  ];
}

export async function statusCommand(world: World, options: StatusOptions): Promise<number> {
  const { leaseNamespace } = options;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const { client, api } = await openChangeable(world, options.context, signal);
  const lease = await readLease(api, leaseNamespace);
  const journal = (await readJournal(api, leaseNamespace))?.journal ?? null;
  const now = world.clock.now();
  if (options.json) {
    const { holder = null, renewedAt = null, durationSeconds = null } = lease ?? {};
    printJson(world, { holder, renewedAt, durationSeconds, journal });
  } else {
    const found =
      journal === null
        ? [`No journal in namespace ${leaseNamespace}: nothing is changed by a run that keeps it there.`]
        : journalLines(journal);
    const lines = [leaseLine(lease, now), ...found, ...(await otherJournals(client, options, now, signal))];
    writeText(world, `${lines.join('\n')}\n`);
  }
  return EXIT_STATUS.success;
}
