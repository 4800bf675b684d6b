/** What a resumed run shares with its record: figures of another cluster, plan or program must not stand beside its own. */
import { resolveSettings } from '../config/configuration.ts';
import { SETTINGS } from '../config/settings.ts';
import { BenchError } from '../errors.ts';
import { resumeWarnings } from '../measure/warnings.ts';
import { benchText } from '../report/facts.ts';
import { withPortablePaths } from '../results/portable-paths.ts';
import { runHead } from '../results/run-head.ts';
import type { World } from '../world.ts';
import type { ExperimentPlan, Opened } from './experiment.ts';
import { caseKeyOf, type LivingRecord, type RecordForm } from './form.ts';
import type { MeasuredCase } from './plan.ts';
import { type GivenSettings, noteIdleVariables } from './settings.ts';

type Resumed<Field extends keyof LivingRecord> = Pick<LivingRecord, 'id' | Field>;

const START_ANEW = 'start a new run without --resume';

/** The settings besides `--resume`: where the run is, and whether programs may be installed here. No figure depends on them. */
const GIVEN = { out: SETTINGS.out, provision: SETTINGS.provision };

/**
 * What was given with `--resume`; everything else is in the record, and not asked of the environment.
 * @throws BenchError `E_USAGE` for other settings
 */
export async function givenWithResume(
  world: World,
  command: string,
  { flags, file, preset }: GivenSettings,
): Promise<{ readonly out: string; readonly provision?: boolean }> {
  const given = Object.keys(flags).filter((name) => !(name in GIVEN) && flags[name] !== undefined);
  if (given.length === 0 && file === undefined && preset === undefined) {
    const settings = resolveSettings(GIVEN, { env: world.env, flags }, command);
    noteIdleVariables(world, `${command} --resume`, GIVEN, settings);
    const { out, provision } = settings;
    return { out, ...(provision ? {} : { provision }) };
  }
  throw new BenchError('E_USAGE', '--resume continues with the settings of the run and accepts no others', {
    evidence: given.map((name) => `also given: ${name}`),
    fix: 'Omit the other settings, or start a new run without --resume.',
  });
}

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
  const unknown = [...new Set(trials.map(caseKeyOf))].filter((key) => !known.has(key));
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
function demandSamePrograms(
  { id, programs }: Pick<LivingRecord, 'id'> & Pick<Opened<unknown>, 'programs'>,
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

type Conditions = Pick<Opened<unknown>, 'environment' | 'conditions' | 'warnings'>;

/** What has changed since and may explain a difference between the trials before and after, and what `open` warns of now. */
function warningsAgain({ environment, conditions, warnings }: Conditions, opened: Conditions): string[] {
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

/** The record that goes on, with warnings of what has changed since. Throws as `demandSamePrograms` does. */
export function continued<R extends LivingRecord>(
  { cwd, env }: Pick<World, 'cwd' | 'env'>,
  form: Pick<RecordForm<R, never, never, never, never>, 'programsOf' | 'conditionsOf'>,
  record: R,
  { programs, environment, conditions, warnings }: Opened<unknown, unknown, unknown>,
): R {
  demandSamePrograms({ id: record.id, programs: form.programsOf(record) }, { programs });
  // A bench that measures otherwise may explain a difference like any condition.
  const bench = benchText({ ...runHead([], ''), environment });
  const all = { environment, conditions: { ...conditions, 'dinodns-bench': bench }, warnings };
  // As the record has them: the same is said once.
  const now = withPortablePaths(all, { cwd, home: env.HOME });
  const before = {
    environment: record.environment,
    warnings: record.warnings,
    conditions: { ...form.conditionsOf(record), 'dinodns-bench': benchText(record) },
  };
  return { ...record, warnings: warningsAgain(before, now) };
}
