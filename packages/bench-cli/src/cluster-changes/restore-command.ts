/** `bench swap restore`: puts back what a run has changed, from any machine, whether or not the run still lives. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { writeText } from '../output.ts';
import { isOurs } from '../targets/kubernetes/run-namespace.ts';
import type { World } from '../world.ts';
import { describeChange } from './change.ts';
import { type ChangeableCluster, openChangeable } from './connected-api.ts';
import { readJournal } from './journal.ts';
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
    writeText(world, 'No journal: there is nothing to put back.\n');
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
      onReverted: (change) => {
        const found = change.found === null ? '' : ` (${change.found})`;
        writeText(world, `${change.state}: ${describeChange(change)}${found}\n`);
      },
    },
    { keepFindings: false },
  );
  if (outcome.kind === 'taken') {
    throw new BenchError('E_CLUSTER_BUSY', 'somebody else is putting the cluster back just now', {
      fix: 'Wait a moment, and look with `bench swap status`.',
    });
  }
  if (outcome.kind === 'done') await removeNamespace(cluster, outcome.journal.namespace, signal);
  writeText(world, 'Everything is as before.\n');
  return EXIT_STATUS.success;
}
