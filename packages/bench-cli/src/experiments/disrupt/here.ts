/** Faults of servers on this machine, and of the upstream of servers that forward: their plan, and what trials share. */
import type { ExperimentPlan, Opened, OpenRequest } from '../../engine/experiment.ts';
import { pointKey, pointsOf } from '../../engine/factors.ts';
import { type DecidedServers, openServers, planServers } from '../../engine/servers.ts';
import { BenchError } from '../../errors.ts';
import { EXTERNAL } from '../../servers/coredns-cluster/cluster.ts';
import type { Server } from '../../servers/server.ts';
import { externalNames } from '../../workload/cluster-names.ts';
import type { World } from '../../world.ts';
import type { DisruptContext } from './context.ts';
import { FORWARDING, repeatsNames } from './factors.ts';
import { demandFaults, FAULT_SECONDS, type FaultName, needsUpstream, planFaults } from './faults.ts';
import type { DisruptSettings } from './settings.ts';
import { disruptTrial, LOAD_NAMES } from './trial.ts';

export interface DecidedHere extends DecidedServers {
  readonly faults: readonly FaultName[];
}

/** After the fault, at least: to see whether all is as before. */
const AFTER_SECONDS = 1;

/** Asked before the load, and while the server warms up; the load asks for others. */
const CHECKED_NAMES = 100;

function demandTime({ duration, outage }: DisruptSettings): void {
  const least = FAULT_SECONDS + outage + AFTER_SECONDS;
  if (duration < least)
    throw new BenchError('E_CONFIG', `--duration: ${duration} s is too short for an outage of ${outage} s`, {
      fix: `Use at least ${least} s, ${FAULT_SECONDS} of them before and ${AFTER_SECONDS} after the fault, or a shorter --outage.`,
    });
}

/** The same with names of the upstream, those of the load under a name of their own. */
function withUpstream(decided: DecidedServers, queries: number, repeats: boolean): DecidedServers {
  const checked = decided.workloads.map(({ name }) => externalNames(name, 0, CHECKED_NAMES));
  const sent = repeats
    ? externalNames(LOAD_NAMES, CHECKED_NAMES, CHECKED_NAMES)
    : externalNames(LOAD_NAMES, CHECKED_NAMES, Math.ceil(queries));
  return { ...decided, workloads: [...checked, sent] };
}

/** @throws BenchError `E_CONFIG` for a factor that these servers or faults do not have */
function demandForwarding(
  { factors, rate }: DisruptSettings,
  faults: readonly FaultName[],
  servers: readonly Server[],
): void {
  const factor = FORWARDING.find((name) => factors[name] !== undefined);
  if (factor !== undefined && !needsUpstream(faults))
    throw new BenchError(
      'E_CONFIG',
      `--factors: ${factor} needs an upstream, and no fault of this run has one`,
      {
        fix: 'Give a fault of the upstream, such as --fault upstream-silent.',
      },
    );
  if (factors.cache?.some((seconds) => Number(seconds) === 0) && factors.serve_stale?.includes('on'))
    throw new BenchError(
      'E_CONFIG',
      '--factors: without a cache (cache=0) there are no old answers to serve',
      {
        fix: 'Give cache=1 or more, or omit serve_stale.',
      },
    );
  // Names that the cache has not seen before the fault would be lost whatever it keeps.
  const isCached = factors.cache !== undefined || factors.serve_stale !== undefined;
  if (isCached && rate * FAULT_SECONDS < CHECKED_NAMES)
    throw new BenchError(
      'E_CONFIG',
      `--rate: at ${rate} queries a second, not all ${CHECKED_NAMES} names are in the cache when the fault begins`,
      { fix: `Use at least ${CHECKED_NAMES / FAULT_SECONDS}, or omit cache and serve_stale.` },
    );
  if (faults.includes('path-lost') && factors.sockets?.includes('fresh'))
    throw new BenchError(
      'E_CONFIG',
      '--factors: sockets=fresh with --fault path-lost would measure the path that bench opens for each socket',
      { fix: 'Use sockets=reused for path-lost, and measure other faults in another run.' },
    );
  const other = servers.find(({ kind }) => kind !== 'coredns');
  if (factors.max_concurrent !== undefined && other !== undefined)
    throw new BenchError(
      'E_CONFIG',
      `--factors: max_concurrent is an option of CoreDNS, and ${other.name} has none`,
      {
        fix: 'Give coredns in any version, or omit it.',
      },
    );
}

export async function planHere(
  settings: DisruptSettings,
  faults: readonly FaultName[],
  world: World,
): Promise<ExperimentPlan<DecidedHere>> {
  demandTime(settings);
  const { duration, warmup, rate, factors } = settings;
  // One instance that is given the whole tier: what is disrupted is all there is.
  const servers = await planServers(world, 'disrupt', { ...settings, mode: 'multi' }, duration + warmup);
  const { decided } = servers;
  demandFaults(faults, decided.servers);
  demandForwarding(settings, faults, decided.servers);
  return {
    ...planFaults(
      faults,
      servers.cases.flatMap(({ key, subject: server, point, expectedSeconds }) =>
        pointsOf(factors).map((varied) => ({
          key: `${key}${pointKey(varied)}`,
          point: { server, ...point, ...varied },
          expectedSeconds,
        })),
      ),
    ),
    decided: {
      ...(needsUpstream(faults) ? withUpstream(decided, rate * duration, repeatsNames(factors)) : decided),
      faults,
    },
  };
}

export async function openHere(
  request: OpenRequest<DisruptSettings, DecidedHere>,
): Promise<Opened<DisruptContext>> {
  const { startUpstream } = await import('@dinodns-bench/cluster-objects');
  const { settings, decided } = request;
  const opened = await openServers(request);
  const upstream = needsUpstream(decided.faults)
    ? await startUpstream({ external: EXTERNAL }).catch(async (error: unknown) => {
        await opened[Symbol.asyncDispose]();
        throw error;
      })
    : null;
  const place = { trials: opened.context, decided, settings, upstream };
  return {
    ...opened,
    context: { measure: (planned, on) => disruptTrial(place, planned, on) },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await upstream?.close();
    },
  };
}
