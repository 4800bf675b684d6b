/**
 * Starts every server that a user described once, and checks its answers, before anything is measured: a mistake in
 * the description then shows after a second, not in every trial.
 */
import type { PlannedCase } from '../plan/plan.ts';
import type { Server } from '../servers/server.ts';
import { fileNameOf } from '../text.ts';
import { checkAnswers } from './answer-check.ts';
import { type TrialContext, workloadNamed } from './trial-context.ts';

async function tryCase(context: TrialContext, planned: PlannedCase, server: Server): Promise<void> {
  const { zoneSet, signal } = context;
  const deployment = await context.target.deploy({
    server,
    program: context.programOf(server),
    zoneSet,
    mode: planned.mode,
    transport: planned.transport,
    allowances: planned.allowances,
    workers: context.configuration.kubernetes.workers,
    isTrial: false,
    logDirectory: `${context.rawDirectory}/try-${fileNameOf(server.name)}`,
    signal,
  });
  try {
    const { workload } = workloadNamed(context, planned.workload);
    const [endpoint] = deployment.endpoints;
    if (endpoint === undefined) return;
    const client = await deployment.openClient(endpoint, workload);
    try {
      const check = { client, server, zoneSet, workload: context.answersOf(server, workload), signal };
      await Promise.race([checkAnswers(check), deployment.died]);
    } finally {
      client.close();
    }
  } finally {
    await deployment.remove();
  }
}

/** Tries one case for each transport of each such server. @throws BenchError as a trial fails. */
export async function tryServers(
  context: TrialContext,
  cases: readonly PlannedCase[],
  servers: readonly Server[],
): Promise<void> {
  for (const server of servers.filter(({ triedFirst }) => triedFirst === true)) {
    const own = cases.filter((planned) => planned.server === server.name);
    for (const [planned] of Map.groupBy(own, ({ transport }) => transport).values()) {
      if (planned !== undefined) await tryCase(context, planned, server);
    }
  }
}
