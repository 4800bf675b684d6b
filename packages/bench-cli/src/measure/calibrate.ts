/**
 * Before the first trial: which load generator can saturate the servers? Each is measured against the UDP echo, and with each
 * server once. A throughput that the generator limited is only a lower bound for the server.
 */
import type { Loader } from '../loaders/loader.ts';
import type { Plan, PlannedCase, PlannedTrial } from '../plan/plan.ts';
import type { Calibration, CalibrationProbe } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import type { Deployment } from '../targets/target.ts';
import { loadAndObserve, runLoaders } from './load.ts';
import { coresOfLoader, coresUnderLoad, limitOfLoad } from './measured.ts';
import { mergeTogether } from './merge-loads.ts';
import { deployTrial } from './trial.ts';
import type { TrialContext } from './trial-context.ts';

/**
 * Long enough for a JIT compiler to be done with the hot path, and for the limit to show: whole periods of a CPU quota
 * (0.1 s), so that it does not matter when the first of them begins.
 */
const SETTLE_SECONDS = 0.3;
const PROBE_SECONDS = 0.6;

/** What `--saturate` multiplies the tiers with, one after the other. Below the last, timers and wake-ups take over. */
const QUOTA_SHARES = [0.75, 0.5, 0.35, 0.25, 0.15];

export interface CalibrationRequest {
  /** Its loader is the preferred one. */
  readonly context: TrialContext;
  readonly plan: Plan;
  readonly servers: readonly Server[];
  /** Other loaders that may be used, in the order of preference. */
  readonly alternatives: readonly Loader[];
  /** The UDP echo; null where it cannot be used. */
  readonly echo: Server | null;
  /** Lower the tiers until every server is the limit. */
  readonly saturate: boolean;
  /** What is being tried, for a person who waits. */
  readonly progress: (text: string) => void;
}

/** The case of a server that needs most of a generator. */
function hardestCase(plan: Plan, server: Server): PlannedCase | undefined {
  const own = plan.cases.filter(
    (item) => item.server === server.name && !item.aa && item.ratePerSecond === null,
  );
  return own.toSorted((a, b) => b.tier - a.tier)[0];
}

const silent = { phase: () => undefined, rate: () => undefined };

async function probe(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  deployment: Deployment,
  quotaShare: number,
): Promise<CalibrationProbe> {
  const pace = { ratePerSecond: null, openLoop: false, progress: silent };
  const stage = `try-${quotaShare}`;
  await runLoaders(context, planned, deployment, {
    ...pace,
    stage: `${stage}-settle`,
    durationSeconds: SETTLE_SECONDS,
  });
  const { outcomes, observation } = await loadAndObserve(context, planned, deployment, {
    ...pace,
    stage,
    durationSeconds: PROBE_SECONDS,
  });
  const load = mergeTogether(outcomes, null);
  const cores = outcomes.flatMap((outcome) => coresOfLoader(outcome) ?? []);
  return {
    server: server.name,
    loader: context.loader.kind,
    quotaShare,
    qps: load.qps,
    serverCores: coresUnderLoad(observation, load),
    loaderCores: cores.length === 0 ? null : cores.reduce((sum, value) => sum + value, 0),
    limitedBy: limitOfLoad({ context, planned, server, deployment }, outcomes, load, observation),
  };
}

interface Tried {
  readonly server: Server;
  /** What a person reads of it. */
  readonly title: string;
  readonly planned: PlannedCase;
  readonly quotaShare: number;
}

/** Deploys a server and tries the loaders with it, one after the other, until one is enough. */
async function probeEach(
  { context, progress }: CalibrationRequest,
  loaders: readonly Loader[],
  { server, title, planned: tried, quotaShare }: Tried,
  isEnough: (found: CalibrationProbe) => boolean,
): Promise<CalibrationProbe[]> {
  // Its raw output comes before that of all trials.
  const planned = { key: `${tried.key}#try`, case: tried, round: 0, order: -1 };
  const probes: CalibrationProbe[] = [];
  const deployment = await deployTrial(context, planned, server);
  try {
    for (const loader of loaders) {
      progress(`trying ${loader.kind} with ${title}`);
      const found = await Promise.race([
        probe({ ...context, loader }, planned, server, deployment, quotaShare),
        deployment.died,
      ]);
      probes.push(found);
      if (isEnough(found)) break;
    }
  } finally {
    await deployment.remove();
  }
  return probes;
}

/** Tries the loaders with a server until one saturates it. */
async function probeWith(
  request: CalibrationRequest,
  loaders: readonly Loader[],
  server: Server,
  quotaShare: number,
): Promise<CalibrationProbe[]> {
  const hardest = hardestCase(request.plan, server);
  if (hardest === undefined) return [];
  const allowances = hardest.allowances.map((cores) => cores * quotaShare);
  const planned = { ...hardest, tier: hardest.tier * quotaShare, allowances };
  const tried = { server, title: server.title, planned, quotaShare };
  return probeEach(request, loaders, tried, ({ limitedBy }) => limitedBy === 'server');
}

/** What each loader sends at most. */
async function measureGenerators(
  request: CalibrationRequest,
  loaders: readonly Loader[],
): Promise<Calibration['generators']> {
  const { plan, echo } = request;
  const [first] = plan.cases;
  if (echo === null || first === undefined) return loaders.map(({ kind }) => ({ loader: kind, qps: null }));
  const planned: PlannedCase = { ...first, server: echo.name, mode: 'single', allowances: [1] };
  const tried = { server: echo, title: 'an echo', planned, quotaShare: 1 };
  const probes = await probeEach(request, loaders, tried, () => false);
  return probes.map(({ loader, qps }) => ({ loader, qps }));
}

/** The servers that a loader did not saturate in their last probe with it. */
export function unsaturated(probes: readonly CalibrationProbe[], loader: string): string[] {
  const last = new Map(
    probes.filter((item) => item.loader === loader).map((item) => [item.server, item.limitedBy]),
  );
  return [...last].flatMap(([server, limitedBy]) => (limitedBy === 'server' ? [] : [server]));
}

/** Lowers the quota until the loader saturates every server; the share is 1 if even the lowest does not do. */
async function lowerQuota(
  request: CalibrationRequest,
  loader: Loader,
  probes: CalibrationProbe[],
): Promise<number> {
  for (const share of QUOTA_SHARES) {
    const open = unsaturated(probes, loader.kind);
    for (const server of request.servers.filter(({ name }) => open.includes(name))) {
      probes.push(...(await probeWith(request, [loader], server, share)));
    }
    if (unsaturated(probes, loader.kind).length === 0) return share;
  }
  return 1;
}

/**
 * Chooses the preferred loader if it saturates every server, or else another that does, or else the preferred one.
 * @throws BenchError if a server does not start, dies, or a loader fails.
 */
export async function calibrate(
  request: CalibrationRequest,
): Promise<{ loader: Loader; calibration: Calibration }> {
  const { context, alternatives, servers, saturate } = request;
  const preferred = context.loader;
  const loaders = [preferred, ...alternatives];
  const generators = await measureGenerators(request, loaders);
  const probes: CalibrationProbe[] = [];
  for (const server of servers) {
    // One that failed with a server is out: it has to saturate all of them.
    const left = alternatives.filter(({ kind }) => unsaturated(probes, kind).length === 0);
    probes.push(...(await probeWith(request, [preferred, ...left], server, 1)));
  }
  const open = unsaturated(probes, preferred.kind);
  let chosen = preferred;
  for (const loader of open.length === 0 ? [] : alternatives) {
    if (unsaturated(probes, loader.kind).length > 0) continue;
    // It does what the preferred one does not; does it also do what the preferred one does?
    const tried = new Set(
      probes.filter(({ loader: kind }) => kind === loader.kind).map((item) => item.server),
    );
    for (const server of servers.filter(({ name }) => !tried.has(name)))
      probes.push(...(await probeWith(request, [loader], server, 1)));
    if (unsaturated(probes, loader.kind).length === 0) {
      chosen = loader;
      break;
    }
  }
  const isOpen = unsaturated(probes, chosen.kind).length > 0;
  const quotaShare = isOpen && saturate ? await lowerQuota(request, chosen, probes) : 1;
  return {
    loader: chosen,
    calibration: {
      generators,
      probes,
      loader: chosen.kind,
      quotaShare,
      saturated: unsaturated(probes, chosen.kind).length === 0,
    },
  };
}
