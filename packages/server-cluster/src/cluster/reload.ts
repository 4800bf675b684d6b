/**
 * Gives all workers new zones without interrupting service: each loads them beside the present ones, and only if
 * all succeed does each switch at once. If one fails, all keep what they have.
 */
import { messageOf } from '@dinodns-bench/program';
import type { Log } from '../log/log.ts';
import type { Member } from './member.ts';
import type { Sent } from './protocol.ts';

/** Loading a million zones on a slow CPU takes about a minute. */
const PREPARE_SECONDS = 120;
const COMMIT_SECONDS = 10;

/**
 * Asks all of them; rejects with the first failure other than a worker's end. A worker's end is no fault of the
 * zones: its replacement starts with the right ones.
 */
async function askAll(members: readonly Member[], ask: (member: Member) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(members.map(ask));
  for (const [index, outcome] of outcomes.entries()) {
    const member = members[index];
    if (outcome.status === 'rejected' && member?.isGone === false) throw outcome.reason;
  }
}

export interface Reload extends Sent {
  /** Which zones they are: they replace those of earlier generations. */
  readonly generation: number;
  /** Which attempt to load zones it is, of any generation. What was aborted cannot be taken for a later attempt. */
  readonly attempt: number;
}

/**
 * Rejects with the `ServerError` of the worker that could not load the zones. `members` returns the workers that
 * must switch. It is called again until all of them are prepared, because workers come and go meanwhile. Then,
 * before the first one switches, `onPrepared` is called: workers that start later are not among the members and
 * must be told.
 */
export async function reloadMembers(
  members: () => readonly Member[],
  { zonesFile, secrets, generation, attempt }: Reload,
  log: Log,
  onPrepared: () => void = () => undefined,
): Promise<void> {
  const prepared = new Set<Member>();
  const prepare = (member: Member) =>
    member.ask({ task: 'prepare', attempt, zonesFile, secrets }, PREPARE_SECONDS);
  const abort = (member: Member) => member.ask({ task: 'abort', attempt }, COMMIT_SECONDS);
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
  await Promise.all([...prepared].map((member) => commit(member, attempt, generation, log)));
}

/** All have loaded the zones, so a switch fails only in a hung worker; its replacement has them. */
async function commit(member: Member, attempt: number, generation: number, log: Log): Promise<void> {
  try {
    await member.ask({ task: 'commit', attempt, generation }, COMMIT_SECONDS);
    member.generation = generation;
  } catch (error) {
    if (member.isGone) return;
    log.error({ worker: member.place, error: messageOf(error) }, 'A worker did not switch to the new zones');
    await member.stop(0);
  }
}
