/** `bench swap restore`: puts back what a run has changed, from any machine, whether or not the run still lives. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { writeText } from '../output.ts';
import { isOurs } from '../targets/kubernetes/run-namespace.ts';
import type { World } from '../world.ts';
import { type ChangeableCluster, openChangeable } from './connected-api.ts';
import { readJournal } from './journal.ts';
import { otherJournals, withFound } from './status-command.ts';
import { takeOver } from './take-over.ts';

export interface RestoreOptions {
  readonly context: string | undefined;
  readonly leaseNamespace: string;
  /** Only this run. */
  readonly run: string | undefined;
  /** How long the pods may take. */
  readonly settleSeconds: number;
}

const SPARE_SECONDS = 180;

/** The namespace of the run, with its guard. */
async function removeNamespace(
  { client }: ChangeableCluster,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await client.get('Namespace', name, undefined, signal);
  if (found !== null && isOurs(found)) await client.delete('Namespace', name, undefined, signal);
}

/** @throws BenchError `E_USAGE` for another run than the one of the journal, `E_CLUSTER_BUSY` if the guard is at it. */
export async function restoreCommand(world: World, options: RestoreOptions): Promise<number> {
  const { leaseNamespace, settleSeconds, run } = options;
  const signal = AbortSignal.timeout((settleSeconds + SPARE_SECONDS) * 1000);
  const cluster = await openChangeable(world, options.context, signal);
  const { api } = cluster;
  const stored = await readJournal(api, leaseNamespace);
  if (stored === null) {
    const others = await otherJournals(cluster.client, options, world.clock.now(), signal);
    const lines = [`No journal in namespace ${leaseNamespace}: there is nothing to put back.`, ...others];
    writeText(world, `${lines.join('\n')}\n`);
    return EXIT_STATUS.success;
  }
  const { runId } = stored.journal;
  if (run !== undefined && run !== runId) {
    throw new BenchError(
      'E_USAGE',
      `--run: the journal of the cluster is that of run ${runId}, not of ${run}`,
      {
        fix: `Omit --run, or give --run ${runId}.`,
      },
    );
  }
  const outcome = await takeOver(
    {
      api,
      clock: world.clock,
      leaseNamespace,
      holder: `restore by ${world.machine.hostname}/${world.processes.ownPid}`,
      settleSeconds,
      onReverted: (change) => writeText(world, `${change.state}: ${withFound(change)}\n`),
    },
    { keepFindings: false },
  );
  if (outcome.kind === 'taken') {
    throw new BenchError('E_CLUSTER_BUSY', 'somebody else is putting the cluster back just now', {
      fix: 'Wait a moment, and look with `bench swap status`.',
    });
  }
  const { namespace, changes = [] } = outcome.kind === 'done' ? outcome.journal : {};
  if (namespace !== undefined) await removeNamespace(cluster, namespace, signal);
  // The journal was their only record.
  const left = changes
    .filter(({ state }) => state === 'superseded')
    .map((change) => `  ${withFound(change)}`);
  const lines =
    left.length === 0
      ? ['Everything is as before.']
      : ['Everything is as before, except for what somebody else has changed since:', ...left];
  writeText(world, `${lines.join('\n')}\n`);
  return EXIT_STATUS.success;
}
