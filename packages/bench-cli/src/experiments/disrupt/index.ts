/** Disrupt: what do clients lose when a server fails, or when its upstream does? */
import { defineExperiment } from '../../engine/command.ts';
import type { Estimand } from '../../engine/estimand.ts';
import type { ExperimentPlan } from '../../engine/experiment.ts';
import type { DecidedServers } from '../../engine/servers.ts';
import { BenchError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { disruptDocument } from './document.ts';
import { type DisruptEvidence, disruptEvidenceSchema, LATE_SECONDS } from './evidence.ts';
import { CONTROL, demandFaults, FAULT_SECONDS, FAULTS, needsUpstream } from './faults.ts';
import { DISRUPT_SETTINGS, type DisruptSettings } from './settings.ts';
import type { DisruptContext } from './trial.ts';

/** After the fault, at least: to see whether all is as before. */
const AFTER_SECONDS = 1;

const figure = (
  name: string,
  title: string,
  unit: 'count' | 'seconds',
  compared: 'ratio' | 'no',
  of: (evidence: DisruptEvidence) => number | null,
): Estimand<DisruptEvidence> => ({ name, title, unit, better: 'less', compared, of });

const ESTIMANDS: readonly Estimand<DisruptEvidence>[] = [
  {
    name: 'answered',
    title: 'answered',
    unit: 'ratio',
    better: 'more',
    compared: 'ratio',
    of: ({ queriesSent, queriesLost, errors }) =>
      queriesSent === 0 ? null : Math.max(0, (queriesSent - queriesLost - errors) / queriesSent),
  },
  figure('lost', 'lost', 'count', 'no', ({ queriesLost }) => queriesLost),
  figure('errors', 'errors', 'count', 'no', ({ errors }) => errors),
  ...LATE_SECONDS.map((limit, index) =>
    figure(`over${limit}s`, `over ${limit}\u00a0s`, 'count', 'no', ({ late }) => late[index] ?? 0),
  ),
  figure('gap', 'longest gap', 'seconds', 'ratio', ({ longestGapSeconds }) => longestGapSeconds),
  figure('recovered', 'as before after', 'seconds', 'no', ({ recoveredSeconds }) => recoveredSeconds),
  figure('p50', 'p50', 'seconds', 'ratio', ({ p50Seconds }) => p50Seconds),
  figure('p99', 'p99', 'seconds', 'ratio', ({ p99Seconds }) => p99Seconds),
];

function demandTime({ duration, outage }: DisruptSettings): void {
  const least = FAULT_SECONDS + outage + AFTER_SECONDS;
  if (duration < least)
    throw new BenchError('E_CONFIG', `--duration: ${duration} s is too short for an outage of ${outage} s`, {
      fix: `Use at least ${least} s, ${FAULT_SECONDS} of them before and ${AFTER_SECONDS} after the fault, or a shorter --outage.`,
    });
}

/** Asked before the load, and while the server warms up; the load asks for others. */
const CHECKED_NAMES = 100;

/** The same with names of the upstream, those of the load under a name of their own. */
async function withUpstream(decided: DecidedServers, queries: number): Promise<DecidedServers> {
  const { externalNames } = await import('../../workload/cluster-names.ts');
  const { LOAD_NAMES } = await import('./trial.ts');
  const checked = decided.workloads.map(({ name }) => externalNames(name, 0, CHECKED_NAMES));
  const sent = externalNames(LOAD_NAMES, CHECKED_NAMES, Math.ceil(queries));
  return { ...decided, workloads: [...checked, sent] };
}

async function plan(settings: DisruptSettings, world: World): Promise<ExperimentPlan<DecidedServers>> {
  demandTime(settings);
  const { planServers } = await import('../../engine/servers.ts');
  const { fault: faults, duration, warmup, rate } = settings;
  // One instance that is given the whole tier: what is disrupted is all there is.
  const servers = await planServers(world, 'disrupt', { ...settings, mode: 'multi' }, duration + warmup);
  const { decided } = servers;
  demandFaults(faults, decided.servers);
  return {
    subjects: [
      { name: CONTROL, title: CONTROL },
      ...faults.map((name) => ({ name, title: FAULTS[name].title })),
    ],
    baseline: CONTROL,
    cases: servers.cases.flatMap(({ key, subject: server, point, expectedSeconds }) =>
      [CONTROL, ...faults].map((subject) => ({
        key: `${subject}/${key}`,
        subject,
        point: { server, ...point },
        expectedSeconds,
      })),
    ),
    decided: needsUpstream(faults) ? await withUpstream(decided, rate * duration) : decided,
  };
}

export const disrupt = defineExperiment({
  name: 'disrupt',
  question: 'What do clients lose when a server fails, or when its upstream does?',
  description: 'what clients lose when a server of this machine fails, or when its upstream does',
  settings: DISRUPT_SETTINGS,
  plan,
  async open(request) {
    const { openServers } = await import('../../engine/servers.ts');
    const { startUpstream } = await import('@dinodns-bench/cluster-objects');
    const { EXTERNAL } = await import('../../servers/coredns-cluster/cluster.ts');
    const { settings, decided } = request;
    const opened = await openServers(request);
    const upstream = needsUpstream(settings.fault)
      ? await startUpstream({ external: EXTERNAL }).catch(async (error: unknown) => {
          await opened[Symbol.asyncDispose]();
          throw error;
        })
      : null;
    const context: DisruptContext = { trials: opened.context, decided, settings, upstream };
    return {
      ...opened,
      context,
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]();
        await upstream?.close();
      },
    };
  },
  evidence: disruptEvidenceSchema,
  async trial(context: DisruptContext, planned, on) {
    const { disruptTrial } = await import('./trial.ts');
    return disruptTrial(context, planned, on);
  },
  estimands: () => ESTIMANDS,
  document: disruptDocument,
});
