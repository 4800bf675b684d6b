/**
 * New zones for all workers, without a moment in which none serves: each loads them beside the present ones,
 * and only if all have succeeded they go over, each at once. If one fails, all keep what they have.
 */
import { messageOf } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { Member } from './member.ts';

/** Loading a million zones on a slow CPU takes about a minute. */
const PREPARE_SECONDS = 120;
const COMMIT_SECONDS = 10;

/**
 * Asks all of them; rejects with the first failure that is not a worker's end. That is no failure of the zones:
 * the worker that replaces it starts with the right ones.
 */
async function askAll(members: readonly Member[], ask: (member: Member) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(members.map(ask));
  for (const [index, outcome] of outcomes.entries()) {
    const member = members[index];
    if (outcome.status === 'rejected' && member?.isGone === false) throw outcome.reason;
  }
}

/**
 * Rejects with the `ServerError` of the worker that could not load them. `members` says who has to go over; it is
 * asked again until all of them are prepared, because workers come and go meanwhile. `onPrepared` is called then,
 * before the first of them goes over: a worker that comes later is not among them, and must be told.
 */
export async function reloadMembers(
  members: () => readonly Member[],
  zonesFile: string | null,
  generation: number,
  log: Log,
  onPrepared: () => void = () => undefined,
): Promise<void> {
  const prepared = new Set<Member>();
  const prepare = (member: Member) => member.ask({ task: 'prepare', generation, zonesFile }, PREPARE_SECONDS);
  const abort = (member: Member) => member.ask({ task: 'abort', generation }, COMMIT_SECONDS);
  try {
    for (;;) {
      const others = members().filter((member) => !prepared.has(member));
      if (others.length === 0) break;
      await askAll(others, prepare);
      for (const member of others) prepared.add(member);
    }
  } catch (error) {
    await askAll([...prepared, ...members()], abort).catch((second: Error) =>
      log.warn({ error: second.message }, 'A worker did not confirm that it keeps its zones'),
    );
    throw error;
  }
  onPrepared();
  await Promise.all([...prepared].map((member) => commit(member, generation, log)));
}

/** All have the zones ready, so that going over fails only in a worker that hangs; its successor has them. */
async function commit(member: Member, generation: number, log: Log): Promise<void> {
  try {
    await member.ask({ task: 'commit', generation }, COMMIT_SECONDS);
    member.generation = generation;
  } catch (error) {
    if (member.isGone) return;
    log.error({ worker: member.place, error: messageOf(error) }, 'A worker did not switch to the new zones');
    await member.stop(0);
  }
}

export function nobodyServes(): ServerError {
  return new ServerError(
    'E_WORKER',
    'No worker is ready to reload zones.',
    'Try again once /ready reports ready.',
  );
}
