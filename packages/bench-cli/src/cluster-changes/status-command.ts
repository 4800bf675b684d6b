/** `bench swap status`: what a run has changed, and what of it is put back. Changes nothing. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { printJson, writeText } from '../output.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';
import { describeChange } from './change.ts';
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

function journalLines(journal: Journal | null): string[] {
  if (journal === null) return ['No journal: nothing of this cluster is changed.'];
  const pending = journal.changes.filter(isPending).length;
  return [
    `Run ${journal.runId} (${journal.experiment}), in namespace ${journal.namespace}: ${counted(pending, 'change')} to put back`,
    ...journal.changes.map((change) => {
      const found = change.found === null ? '' : ` (${change.found})`;
      return `  ${change.state.padEnd(10)}  ${describeChange(change)}${found}`;
    }),
    ...(journal.changes.some(({ state }) => state === 'superseded')
      ? ['Superseded changes were left alone, because somebody else has changed them since.']
      : []),
  ];
}

export async function statusCommand(world: World, options: StatusOptions): Promise<number> {
  const { api } = await openChangeable(world, options.context, AbortSignal.timeout(LIMIT_MS));
  const lease = await readLease(api, options.leaseNamespace);
  const journal = (await readJournal(api, options.leaseNamespace))?.journal ?? null;
  if (options.json) {
    const { holder = null, renewedAt = null, durationSeconds = null } = lease ?? {};
    printJson(world, { holder, renewedAt, durationSeconds, journal });
  } else {
    const lines = [leaseLine(lease, world.clock.now()), ...journalLines(journal)];
    writeText(world, `${lines.join('\n')}\n`);
  }
  return EXIT_STATUS.success;
}
