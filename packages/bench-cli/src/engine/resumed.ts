/** What a resumed run shares with its record: figures of another cluster, plan or program must not stand beside its own. */
import { BenchError } from '../errors.ts';
import { resumeWarnings } from '../measure/warnings.ts';
import type { World } from '../world.ts';
import type { ExperimentPlan, Opened } from './experiment.ts';
import type { MeasuredCase } from './plan.ts';
import type { EngineRecord } from './record.ts';

type Resumed<Field extends keyof EngineRecord<unknown>> = Pick<EngineRecord<unknown>, 'id' | Field>;

const START_ANEW = 'start a new run without --resume';

/**
 * The context of the cluster that was measured, whatever the current one is; nothing for a run of this machine. Reads the
 * kubeconfig and sends nothing.
 * @throws BenchError `E_CONFIG` if that context leads to another API server
 */
export async function clusterAgain(
  world: World,
  { id, environment: { cluster } }: Resumed<'environment'>,
): Promise<{ readonly context?: string }> {
  if (cluster?.context === undefined) return {};
  const { context } = cluster;
  const { connect } = await import('../kubernetes-api/connect.ts');
  const { server } = await connect(world, context);
  if (cluster.server !== undefined && cluster.server !== server) {
    throw new BenchError(
      'E_CONFIG',
      `run ${id} measured the cluster at ${cluster.server}, but context "${context}" of the kubeconfig is now ${server}`,
      { fix: `Set KUBECONFIG to a file where the context is the cluster of the run, or ${START_ANEW}.` },
    );
  }
  return { context };
}

/** @throws BenchError `E_CONFIG` if the plan has no case for a trial of the record, or compares with something else */
export function demandSamePlan(
  { id, trials, baseline }: Resumed<'trials' | 'baseline'>,
  plan: Pick<ExperimentPlan<unknown>, 'baseline'>,
  cases: readonly MeasuredCase[],
): void {
  const known = new Set(cases.map(({ key }) => key));
  const unknown = [...new Set(trials.map((trial) => trial.case))].filter((key) => !known.has(key));
  const differences = [
    ...unknown.map((key) => `it has trials of ${key}, which is no longer planned`),
    ...(baseline === plan.baseline
      ? []
      : [`it compares with ${baseline ?? 'nothing'}, not with ${plan.baseline ?? 'nothing'}`]),
  ];
  if (differences.length === 0) return;
  throw new BenchError('E_CONFIG', `run ${id} cannot be resumed: its settings now make another plan`, {
    evidence: differences,
    fix: `Restore what the run measured (its files, the same working directory, the same versions), or ${START_ANEW}.`,
  });
}

/** @throws BenchError `E_CONFIG` if a program is no longer the one that was measured */
export function demandSamePrograms(
  { id, programs }: Resumed<'programs'>,
  opened: Pick<Opened<unknown>, 'programs'>,
): void {
  const found = new Map(opened.programs.map(({ name, version }) => [name, version]));
  const differences = programs.flatMap(({ name, version }) => {
    const now = found.get(name);
    return now === undefined || now === version ? [] : [`${name}: ${version} in the record, now ${now}`];
  });
  if (differences.length === 0) return;
  throw new BenchError('E_CONFIG', `run ${id} cannot be resumed with programs of other versions`, {
    evidence: differences,
    fix: `Install the versions of the record, or ${START_ANEW}.`,
  });
}

/** What has changed since and may explain a difference between the trials before and after, and what `open` warns of now. */
export function warningsAgain(
  { environment, conditions, warnings }: Resumed<'environment' | 'conditions' | 'warnings'>,
  opened: Pick<Opened<unknown>, 'environment' | 'conditions' | 'warnings'>,
): string[] {
  const names = new Set([...Object.keys(conditions), ...Object.keys(opened.conditions)]);
  const changed = [...names].flatMap((name) => {
    const [before = 'unknown', now = 'unknown'] = [conditions[name], opened.conditions[name]];
    return before === now ? [] : [`resumed where ${name} is ${now}, not ${before} as before`];
  });
  return [
    ...new Set([
      ...warnings,
      ...resumeWarnings(environment, opened.environment),
      ...changed,
      ...opened.warnings,
    ]),
  ];
}
