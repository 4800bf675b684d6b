/**
 * Starts servers and checks their answers without measuring anything. A run does so with every server that a user
 * described, before the first trial: a mistake in the description then shows after a second, not in every trial.
 */
import type { PlannedCase } from '../plan/plan.ts';
import type { Transport } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { fileNameOf } from '../text.ts';
import { checkAnswers } from './answer-check.ts';
import { type TrialContext, workloadNamed } from './trial-context.ts';

export type TryContext = Omit<TrialContext, 'world' | 'loader' | 'predictedCodes'>;

/** A server that was tried: what it answered correctly. */
export interface Tried {
  readonly server: Server;
  readonly transport: Transport;
  readonly queries: number;
}

async function tryCase(context: TryContext, planned: PlannedCase, server: Server): Promise<Tried> {
  const { zoneSet, signal, configuration } = context;
  const { mode, transport, allowances } = planned;
  const deployment = await context.target.deploy({
    server,
    program: context.programOf(server),
    zoneSet,
    mode,
    transport,
    allowances,
    workers: configuration.kubernetes.workers,
    isTrial: false,
    logDirectory: `${context.rawDirectory}/try-${fileNameOf(server.name)}`,
    signal,
  });
  try {
    const { workload } = workloadNamed(context, planned.workload);
    let queries = 0;
    for (const endpoint of deployment.endpoints) {
      const client = await deployment.openClient(endpoint, workload);
      try {
        const check = {
          client,
          server,
          zoneSet,
          workload: context.answersOf(server, workload),
          dnssec: configuration.dnssec,
          signal,
        };
        queries += await Promise.race([checkAnswers(check), deployment.died]);
      } finally {
        client.close();
      }
    }
    return { server, transport, queries };
  } finally {
    await deployment.remove();
  }
}

/**
 * Tries one case of each transport of each server, one after the other.
 * @throws BenchError as a trial fails: `E_SERVER_START`, `E_SERVER_DIED`, `E_WRONG_ANSWER`.
 */
export async function tryServers(
  context: TryContext,
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
