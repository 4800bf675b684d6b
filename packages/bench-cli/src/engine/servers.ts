/** For experiments that measure DNS servers on this machine: their plan, and what their trials share. */
import { configure, type RunConfiguration } from '../config/configuration.ts';
import { SETTINGS, type SettingName } from '../config/settings.ts';
import { BenchError, internalError } from '../errors.ts';
import { openTrials } from '../measure/open-trials.ts';
import { type Prepared, type PrepareRequest, prepareRun } from '../measure/prepare.ts';
import { type TrialContext, workloadOf } from '../measure/trial-context.ts';
import { type Plan, planOn, type PlannedTrial as ServerTrial } from '../plan/plan.ts';
import { locateServers } from '../servers/at/index.ts';
import { loadServers } from '../servers/load.ts';
import type { Server } from '../servers/server.ts';
import { loadWorkload } from '../workload/load-workload.ts';
import { type BenchWorkload, zoneSetOf } from '../workload/workload.ts';
import type { World } from '../world.ts';
import { closedAfter } from './close.ts';
import type { ExperimentPlan, Opened, OpenRequest, PlannedTrial } from './experiment.ts';
import { loadConditions } from './form.ts';
import { ENGINE_SETTINGS } from './settings.ts';

/** Servers and workloads of a run, loaded; nothing is started. */
export type DecidedServers = Pick<
  PrepareRequest,
  'configuration' | 'servers' | 'plan' | 'zoneSet' | 'workloads'
>;

/** The server of a trial, by default its subject, and the trial as `measure` knows it. */
export function serverTrial(
  { plan, servers }: DecidedServers,
  { key, round, order, case: { subject, point } }: PlannedTrial,
  name: unknown = subject,
): { readonly server: Server; readonly planned: ServerTrial } {
  const found = plan.cases.find(
    (item) =>
      item.server === name &&
      item.tier === point.tier &&
      item.mode === point.mode &&
      item.workload === point.workload,
  );
  const server = servers.find((each) => each.name === name);
  if (found !== undefined && server !== undefined)
    return { server, planned: { key, round, order, case: found } };
  throw internalError(`no server ${name}`);
}

/** Response codes that the workload of the trial predicts; null where any will do. */
export function expectedCodes(
  context: TrialContext,
  planned: ServerTrial,
  server: Server,
): ReadonlySet<string> | null {
  if (server.answers === 'echo') return null;
  const workload = context.answersOf(server, workloadOf(context, planned).workload);
  return new Set(context.predictedCodes(server, workload).keys());
}

/** Only what is reached from this machine. */
function demandHere(servers: readonly Server[], command: string): void {
  const inCluster = servers.find(({ existing }) => existing !== undefined && existing.kind !== 'address');
  if (inCluster === undefined) return;
  throw new BenchError(
    'E_CONFIG',
    `--servers: ${inCluster.name} is part of a cluster; bench ${command} measures on this machine`,
    { fix: 'Give a server of this machine, or the address of one: at=ADDRESS:PORT.' },
  );
}

/** Every case must be possible over UDP. */
function demandModes(servers: readonly Server[], plan: Plan, { ip }: RunConfiguration): void {
  for (const { server: name, mode } of plan.cases) {
    const server = servers.find((candidate) => candidate.name === name);
    const reason = server?.unsupported?.(mode, 'udp', ip) ?? null;
    if (reason === null) continue;
    throw new BenchError('E_CONFIG', `${name} cannot be run with --mode ${mode}: ${reason}`, {
      fix: 'Omit the server, or choose another mode.',
    });
  }
}

/** A capture has its own timing. */
function demandRates(workloads: readonly BenchWorkload[]): void {
  const timed = workloads.find(({ builtin }) => builtin?.isTimed === true);
  if (timed === undefined) return;
  throw new BenchError(
    'E_CONFIG',
    `--workload: ${timed.name} is replayed with its own timing, not at a rate`,
    { fix: 'Use another workload, or a query file.' },
  );
}

/** The settings that `bench run` has as well; the engine's own are none of the servers' business. */
function sharedOf(settings: Readonly<Record<string, unknown>>): Partial<Record<SettingName, unknown>> {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([name]) => Object.hasOwn(SETTINGS, name) && !Object.hasOwn(ENGINE_SETTINGS, name),
    ),
  );
}

/**
 * The plan of servers × tiers × modes × workloads, with load from the built-in load generator, which alone sends at a rate
 * come what may.
 * @param secondsPerTrial what a trial takes besides starting and checking its server
 * @throws BenchError `E_CONFIG` for what this machine or a server cannot do
 */
export async function planServers(
  world: World,
  command: string,
  settings: Readonly<Record<string, unknown>>,
  secondsPerTrial: number,
): Promise<ExperimentPlan<DecidedServers>> {
  const base = { loader: 'builtin', calibrate: false } as const;
  const configuration = configure({ base, env: {}, flags: sharedOf(settings) }, command);
  const loaded = await loadServers(world, configuration.servers, configuration);
  demandHere(loaded, command);
  const servers = await locateServers(loaded, configuration);
  const plan = planOn(world, configuration);
  demandModes(servers, plan, configuration);
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  const workloads = await Promise.all(
    configuration.workloads.map((name) => loadWorkload(world, name, { ...configuration, zoneSet })),
  );
  demandRates(workloads);
  const overhead = plan.secondsPerTrial - configuration.durationSeconds - configuration.warmupSeconds;
  return {
    subjects: servers.map(({ name, title }) => ({ name, title })),
    baseline: configuration.baseline,
    cases: plan.cases.map(({ key, server, tier, mode, workload }) => ({
      key,
      subject: server,
      point: { tier, mode, workload },
      expectedSeconds: overhead + secondsPerTrial,
    })),
    decided: { configuration, servers, plan, zoneSet, workloads },
  };
}

/** Gets the programs and opens the target; its session must be closed. Nothing is left if it fails. */
export async function prepareServers(
  request: Omit<OpenRequest<unknown, DecidedServers>, 'settings' | 'isResumed'>,
): Promise<Prepared & { readonly context: TrialContext }> {
  const { world, decided, directory, signal } = request;
  const prepared = await prepareRun({ ...request, ...decided });
  const { session, programs, workloads } = prepared;
  try {
    const { configuration, zoneSet } = decided;
    const context = await openTrials({
      ...{ world, configuration, zoneSet, workloads, session, programs, directory, signal },
    });
    return { ...prepared, context };
  } catch (error) {
    return closedAfter(error, () => session.close());
  }
}

/** How the record tells of the servers and of what limits and loads them. */
export function openedServers({ environment, programs, session: { loader, target } }: Prepared) {
  return {
    environment,
    programs: programs.servers,
    provisioned: programs.provisioned,
    conditions: loadConditions(loader, target.cpuLimits),
  };
}

/** Gets the programs and opens this machine as a target; what is in a record is described. */
export async function openServers(
  request: OpenRequest<unknown, DecidedServers>,
): Promise<Opened<TrialContext>> {
  const prepared = await prepareServers(request);
  const { session, context, warnings } = prepared;
  return {
    ...openedServers(prepared),
    context,
    warnings: warnings({ requested: request.decided.configuration.cpu, ...session.target.cpuLimits }),
    [Symbol.asyncDispose]: () => session.close(),
  };
}
