/** What the trials of a comparison share, and the trials: alone, or in a duet. */
import { settingsOf } from '../../config/configuration.ts';
import type { Settings } from '../../config/settings.ts';
import { closedAfter } from '../../engine/close.ts';
import type { Opened, OpenRequest, PlannedTrial, TrialEvents } from '../../engine/experiment.ts';
import { loadConditions } from '../../engine/form.ts';
import { type DecidedServers, openedServers, prepareServers } from '../../engine/servers.ts';
import { internalError } from '../../errors.ts';
import { runDuetRound } from '../../measure/duet.ts';
import type { Entrant } from '../../measure/duet-contestant.ts';
import { overlapWarnings } from '../../measure/several-loaders.ts';
import { runTrial, type TrialOutcome } from '../../measure/trial.ts';
import { tryServers } from '../../measure/try-servers.ts';
import type { Trial } from '../../results/record.ts';
import { chooseLoad } from './calibrate-run.ts';
import { planOf } from './decide.ts';
import type { CompareContext } from './form.ts';

/** Prepares programs, target and load generator, and chooses the load where that is left to us. */
export async function openCompare(
  request: OpenRequest<Settings, DecidedServers>,
): Promise<Opened<CompareContext, Settings, DecidedServers>> {
  const { decided, display, isResumed } = request;
  const prepared = await prepareServers(request);
  const { session, environment, plan, workloads } = prepared;
  try {
    const context = {
      ...prepared.context,
      countsEvents: environment.hardwareCounters?.used === true,
    };
    const described = decided.servers.filter(({ triedFirst }) => triedFirst === true);
    await tryServers(context, plan.cases, described);
    const { configuration, loader, calibration, ...chosen } = await chooseLoad({
      context,
      plan,
      // What was chosen at the start of a resumed run is in its settings.
      servers: isResumed ? [] : decided.servers,
      workloads,
      alternatives: session.alternatives ?? [],
      progress: (text) => display.live(`  ${text}`),
    });
    const { cpuLimits } = session.target;
    const settled = { ...decided, configuration, workloads, plan: chosen.plan };
    return {
      ...openedServers(prepared),
      conditions: loadConditions(loader, cpuLimits),
      context: { trials: { ...context, configuration, loader }, decided: settled, calibration },
      warnings: prepared.warnings({ requested: configuration.cpu, ...cpuLimits }),
      revised: { settings: settingsOf(configuration), plan: planOf(settled) },
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    return closedAfter(error, () => session.close());
  }
}

function entrantOf(
  { decided }: CompareContext,
  { key, round, order, case: { key: caseKey, subject } }: PlannedTrial,
): Entrant {
  const found = decided.plan.cases.find((item) => item.key === caseKey);
  const server = decided.servers.find(({ name }) => name === subject);
  if (found === undefined || server === undefined) throw internalError(`no server ${subject}`);
  return { server, planned: { key, round, order, case: found } };
}

/** What a trial says of the run besides its figures. */
function tell(
  { trials }: CompareContext,
  { server }: Entrant,
  { trial, files }: TrialOutcome,
  on: TrialEvents,
): Trial {
  on.files(server.name, files);
  const loaderNodes = trial.status === 'ok' ? (trial.loaderNodes ?? []) : [];
  for (const warning of [...(trials.target.warnings?.(loaderNodes) ?? []), ...overlapWarnings(trial)])
    on.warning(warning);
  return trial;
}

export async function compareTrial(
  context: CompareContext,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<Trial> {
  const entrant = entrantOf(context, planned);
  return tell(context, entrant, await runTrial(context.trials, entrant.planned, entrant.server, on), on);
}

/** A round of a duet. The load goes from server to server, and the progress with it. */
export async function duetTrials(
  context: CompareContext,
  planned: readonly PlannedTrial[],
  on: (planned: PlannedTrial) => TrialEvents,
): Promise<Trial[]> {
  const { duet } = context.decided.plan;
  if (duet === null) throw internalError('not a duet');
  const events = new Map(planned.map((each) => [each.key, on(each)]));
  const entrants = planned.map((each) => entrantOf(context, each));
  let current = [...events.values()][0];
  const outcomes = await runDuetRound(context.trials, entrants, duet, {
    trialStarted({ key }) {
      current = events.get(key);
    },
    phase: (text) => current?.phase(text),
    rate: (qps) => current?.rate(qps),
  });
  return entrants.flatMap((entrant, index) => {
    const [outcome, told] = [outcomes[index], events.get(entrant.planned.key)];
    return outcome === undefined || told === undefined ? [] : tell(context, entrant, outcome, told);
  });
}
