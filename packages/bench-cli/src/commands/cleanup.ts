/** `bench cleanup`: removes from a cluster what a killed run left. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { Refusal } from '../cluster-changes/cluster-api.ts';
import { openChangeable } from '../cluster-changes/connected-api.ts';
import { readJournal } from '../cluster-changes/journal.ts';
import { seconds } from '../config/value-schemas.ts';
import { BenchError } from '../errors.ts';
import { listenForInterruption } from '../interruption.ts';
import { hasEnded, ownerOf } from '../machine/owner.ts';
import { printError, printJson } from '../output.ts';
import { openClient } from '../targets/kubernetes/open-cluster.ts';
import { type FoundRun, findRuns, waitUntilNamespaceGone } from '../targets/kubernetes/run-namespace.ts';
import { formatDuration } from '../text.ts';
import type { World } from '../world.ts';

export interface CleanupOptions {
  readonly context?: string;
  readonly run?: string;
  readonly olderThan?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

type Wanted = Omit<CleanupOptions, 'olderThan'> & { readonly olderThanSeconds: number | undefined };

/** `30m` → 1800. Throws `E_USAGE`. */
function secondsFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const age = seconds(0, '').safeParse(text);
  if (age.success) return age.data;
  throw new BenchError('E_USAGE', `--older-than: "${text}" is not a duration`, {
    fix: 'Give a duration, for example 30m or 1h.',
  });
}

interface Judged extends FoundRun {
  readonly remove: boolean;
  readonly reason: string;
}

async function isAlive(world: World, { owner, host }: FoundRun): Promise<boolean | 'elsewhere'> {
  if (host !== world.machine.hostname) return 'elsewhere';
  const process = ownerOf(owner);
  return process === null ? 'elsewhere' : !(await hasEnded(world, process));
}

const ANOTHER = 'another run';
const CHANGED = 'it has changed this cluster: `bench swap restore` puts that back first';

/** Why a run has to stay whose journal is still there: with its namespace, the guard would go that puts the cluster back. */
async function reasonToStay(
  world: World,
  { journalNamespace, namespace }: FoundRun,
  context: string | undefined,
): Promise<string | null> {
  if (journalNamespace === null) return null;
  const { api } = await openChangeable(world, context, AbortSignal.timeout(60_000));
  try {
    const stored = await readJournal(api, journalNamespace);
    return stored?.journal.namespace === namespace ? CHANGED : null;
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    return `it may have changed this cluster, and this user may not get configmaps in namespace ${journalNamespace}, where its journal is`;
  }
}

/** By its owner and the flags. Without --run and --older-than, only what is certainly unused: runs of ended processes of this machine. */
async function judgeOwner(world: World, found: FoundRun, options: Wanted): Promise<Judged> {
  const verdict = (remove: boolean, reason: string): Judged => ({ ...found, remove, reason });
  if (options.run !== undefined) {
    return found.runId === options.run || found.namespace === options.run
      ? verdict(true, 'given by --run')
      : verdict(false, ANOTHER);
  }
  const alive = await isAlive(world, found);
  if (alive === true) return verdict(false, 'it is running');
  if (options.olderThanSeconds !== undefined) {
    return found.ageSeconds >= options.olderThanSeconds
      ? verdict(true, 'older than --older-than')
      : verdict(false, 'younger than --older-than');
  }
  return alive === false
    ? verdict(true, 'its process has ended')
    : verdict(
        false,
        `of ${found.host || 'another machine'}, where it may still be running: give --run or --older-than`,
      );
}

/** The journal of what stays anyway is not read: somebody else's is not everybody's to read. */
async function judge(world: World, found: FoundRun, options: Wanted): Promise<Judged> {
  const judged = await judgeOwner(world, found, options);
  const reason = judged.remove ? await reasonToStay(world, found, options.context) : null;
  return reason === null ? judged : { ...judged, remove: false, reason };
}

/** `problem`: why it is still there, if it was to be removed. */
function line(judged: Judged, dryRun: boolean | undefined, problem: unknown): string {
  const age = formatDuration(judged.ageSeconds);
  const removed = dryRun
    ? 'would be removed'
    : problem === undefined
      ? 'removed'
      : 'deleted, but not gone yet';
  const action = judged.remove ? removed : 'kept';
  return `${judged.namespace}  ${age} old  ${action}: ${judged.reason}\n`;
}

/** Resolves with why namespaces that were deleted are still there, by name. They are waited for together. */
async function removeAll(
  world: World,
  judged: readonly Judged[],
  options: Wanted,
): Promise<Map<string, unknown>> {
  const interruption = listenForInterruption(world, (text) => world.stderr.write(`${text}\n`));
  const problems = new Map<string, unknown>();
  try {
    const client = await openClient(world, options.context);
    const doomed = judged.filter(({ remove }) => remove);
    for (const { namespace } of doomed) {
      await client.delete('Namespace', namespace, undefined, interruption.signal);
    }
    await Promise.all(
      doomed.map(async ({ namespace }) => {
        try {
          await waitUntilNamespaceGone(client, namespace, interruption.signal);
        } catch (error) {
          interruption.signal.throwIfAborted();
          problems.set(namespace, error);
        }
      }),
    );
  } finally {
    interruption.release();
  }
  return problems;
}

/** Exit status 0 if everything that should be removed is gone. What is not is reported, with its pods, their nodes and what to do. */
export async function cleanupCommand(world: World, { olderThan, ...given }: CleanupOptions): Promise<number> {
  const options = { ...given, olderThanSeconds: secondsFrom(olderThan) };
  const client = await openClient(world, options.context);
  const found = await findRuns(client, world.clock.now(), AbortSignal.timeout(60_000));
  const judged: Judged[] = [];
  for (const run of found) judged.push(await judge(world, run, options));
  if (options.run !== undefined && !judged.some(({ reason }) => reason !== ANOTHER)) {
    throw new BenchError('E_USAGE', `--run: no run "${options.run}" in the cluster`, {
      evidence: judged.map(({ runId, namespace }) => `${runId} in ${namespace}`),
      fix: '`bench cleanup --dry-run` lists all.',
    });
  }
  const problems = options.dryRun ? new Map() : await removeAll(world, judged, options);
  if (options.json) {
    printJson(
      world,
      judged.map((item) => {
        const isRemoved = item.remove && !options.dryRun;
        return { ...item, ...(isRemoved ? { isGone: !problems.has(item.namespace) } : {}) };
      }),
    );
  } else {
    for (const item of judged) world.stdout.write(line(item, options.dryRun, problems.get(item.namespace)));
    if (judged.length === 0) world.stdout.write(`There are no runs left on ${client.context}.\n`);
  }
  for (const problem of problems.values()) printError(world, problem);
  return problems.size === 0 ? EXIT_STATUS.success : EXIT_STATUS.environment;
}
