/**
 * Starts servers and checks their answers without measuring anything. A run does so with every server that a user
 * described, before the first trial: a mistake in the description then shows after a second, not in every trial.
 */
import type { PlannedCase } from '../plan/plan.ts';
import type { Transport } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { fileNameOf } from '../text.ts';
import { checkDeployment } from './measured.ts';
import { deployRequest } from './trial.ts';
import type { TrialContext } from './trial-context.ts';

/** A server that was tried: what it answered correctly. */
export interface Tried {
  readonly server: Server;
  readonly transport: Transport;
  readonly queries: number;
}

async function tryCase(context: TrialContext, item: PlannedCase, server: Server): Promise<Tried> {
  const deployment = await context.target.deploy({
    ...deployRequest(context, item, server),
    isTrial: false,
    logDirectory: `${context.rawDirectory}/try-${fileNameOf(server.name)}`,
  });
  try {
    const planned = { key: item.key, case: item, round: 0, order: 0 };
    const checking = checkDeployment({ context, planned, server, deployment });
    return {
      ...{ server, transport: item.transport },
      queries: await Promise.race([checking, deployment.died]),
    };
  } finally {
    await deployment.remove();
  }
}

/**
 * Tries one case of each transport of each server, one after the other.
 * @throws BenchError as a trial fails: `E_SERVER_START`, `E_SERVER_DIED`, `E_WRONG_ANSWER`.
 */
export async function tryServers(
  context: TrialContext,
  cases: readonly PlannedCase[],
  servers: readonly Server[],
): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const server of servers) {
    const own = cases.filter((planned) => planned.server === server.name);
    for (const [planned] of Map.groupBy(own, ({ transport }) => transport).values()) {
      if (planned !== undefined) tried.push(await tryCase(context, planned, server));
    }
  }
  return tried;
}
