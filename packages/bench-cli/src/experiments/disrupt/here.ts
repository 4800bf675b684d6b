/** Faults of servers on this machine, and of the upstream of servers that forward: their plan, and what trials share. */
import type { Measuring, Opened, OpenRequest } from '../../engine/experiment.ts';
import { pointKey, pointsOf } from '../../engine/factors.ts';
import { type DecidedServers, openServers, planServers } from '../../engine/servers.ts';
import { refuse } from '../../errors.ts';
import { EXTERNAL } from '../../servers/coredns-cluster/cluster.ts';
import type { Server } from '../../servers/server.ts';
import { externalNames } from '../../workload/cluster-names.ts';
import type { World } from '../../world.ts';
import type { DisruptEvidence, DisruptPlan } from './evidence.ts';
import { FORWARDING, repeatsNames } from './factors.ts';
import { demandFaults, FAULT_SECONDS, type FaultName, faultsOf, isOfUpstream, planFaults } from './faults.ts';
import type { DisruptSettings } from './settings.ts';
import { disruptTrial, LOAD_NAMES } from './trial.ts';

/** After the fault, at least: to see whether all is as before. */
const AFTER_SECONDS = 1;

/** Asked before the load, and while the server warms up; the load asks for others. */
const CHECKED_NAMES = 100;

/** The same with names of the upstream, those of the load under a name of their own. */
function withUpstream(decided: DecidedServers, queries: number, repeats: boolean): DecidedServers {
  const checked = decided.workloads.map(({ name }) => externalNames(name, 0, CHECKED_NAMES));
  const sent = externalNames(LOAD_NAMES, CHECKED_NAMES, repeats ? CHECKED_NAMES : Math.ceil(queries));
  return { ...decided, workloads: [...checked, sent] };
}

/** @throws BenchError `E_CONFIG` for what these servers or faults do not have, or too little time */
function demandPossible(
  { factors, rate, duration, outage }: DisruptSettings,
  faults: readonly FaultName[],
  servers: readonly Server[],
): void {
  const factor = FORWARDING.find((name) => factors[name] !== undefined);
  const other = servers.find(({ kind }) => kind !== 'coredns');
  const least = FAULT_SECONDS + outage + AFTER_SECONDS;
  refuse(
    duration < least && [
      `--duration: ${duration} s is too short for an outage of ${outage} s`,
      `Use at least ${least} s, ${FAULT_SECONDS} of them before and ${AFTER_SECONDS} after the fault, or a shorter --outage.`,
    ],
    factor !== undefined &&
      !faults.some(isOfUpstream) && [
        `--factors: ${factor} needs an upstream, and no fault of this run has one`,
        'Give a fault of the upstream, such as --fault upstream-silent.',
      ],
    factors.cache?.includes(0) === true &&
      factors.serve_stale?.includes('on') === true && [
        '--factors: without a cache (cache=0) there are no old answers to serve',
        'Give cache=1 or more, or omit serve_stale.',
      ],
    // Names that the cache has not seen before the fault would be lost whatever it keeps.
    repeatsNames(factors) &&
      rate * FAULT_SECONDS < CHECKED_NAMES && [
        `--rate: at ${rate} queries a second, not all ${CHECKED_NAMES} names are in the cache when the fault begins`,
        `Use at least ${CHECKED_NAMES / FAULT_SECONDS}, or omit cache and serve_stale.`,
      ],
    faults.includes('path-lost') &&
      factors.sockets?.includes('fresh') === true && [
        '--factors: sockets=fresh with --fault path-lost would measure the path that bench opens for each socket',
        'Use sockets=reused for path-lost, and measure other faults in another run.',
      ],
    factors.max_concurrent !== undefined &&
      other !== undefined && [
        `--factors: max_concurrent is an option of CoreDNS, and ${other.name} has none`,
        'Give coredns in any version, or omit it.',
      ],
  );
}

export async function planHere(settings: DisruptSettings, world: World): Promise<DisruptPlan> {
  const { duration, warmup, rate, factors } = settings;
  const faults = faultsOf(settings);
  // One instance that is given the whole tier: what is disrupted is all there is.
  const servers = await planServers(world, 'disrupt', { ...settings, mode: 'multi' }, duration + warmup);
  const { decided } = servers;
  demandFaults(faults, decided.servers);
  demandPossible(settings, faults, decided.servers);
  const here = faults.some(isOfUpstream)
    ? withUpstream(decided, rate * duration, repeatsNames(factors))
    : decided;
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
    decided: { open: (request) => openHere({ ...request, decided: here }) },
  };
}

async function openHere(
  request: OpenRequest<DisruptSettings, DecidedServers>,
): Promise<Opened<Measuring<DisruptEvidence>>> {
  const { startUpstream } = await import('@dinodns-bench/cluster-objects');
  const { settings, decided } = request;
  await using made = new AsyncDisposableStack();
  const upstream = faultsOf(settings).some(isOfUpstream) ? await startUpstream({ external: EXTERNAL }) : null;
  made.defer(async () => upstream?.close());
  const opened = made.use(await openServers(request));
  const place = { trials: opened.context, decided, settings, upstream };
  const closing = made.move();
  return {
    ...opened,
    context: { measure: (planned, on) => disruptTrial(place, planned, on) },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
