/** The choice of load generator and tiers before the first trial, and the settings that it leads to. */
import type { RunConfiguration } from '../../config/configuration.ts';
import type { Loader } from '../../loaders/loader.ts';
import { calibrate } from '../../measure/calibrate.ts';
import { echoOf, needsCalibration } from '../../measure/needs-calibration.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import { planWithDuet } from '../../plan/duet.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Calibration } from '../../results/record.ts';
import type { Server } from '../../servers/server.ts';
import type { BenchWorkload } from '../../workload/workload.ts';

/** What a run is made with. */
export interface Chosen {
  /** As if the user had asked for what was chosen, so that the record's command repeats the run. */
  readonly configuration: RunConfiguration;
  readonly plan: Plan;
  readonly loader: Loader;
  /** Null where nothing was measured. */
  readonly calibration: Calibration | null;
}

export interface ChoiceRequest {
  readonly context: TrialContext;
  readonly plan: Plan;
  readonly servers: readonly Server[];
  readonly workloads: readonly BenchWorkload[];
  readonly alternatives: readonly Loader[];
  readonly progress: (text: string) => void;
}

/** Twelve digits hide what binary fractions add: 3 × 0.35. */
function scaled(tier: number, share: number): number {
  return Number((tier * share).toPrecision(12));
}

function configurationWith(
  configuration: RunConfiguration,
  { loader, quotaShare }: Calibration,
  preferred: string,
): RunConfiguration {
  return {
    ...configuration,
    ...(loader === 'builtin' && loader !== preferred ? { loader: 'builtin' as const } : {}),
    ...(quotaShare === 1
      ? {}
      : { tiers: configuration.tiers.map((tier) => scaled(tier, quotaShare)), saturate: false }),
  };
}

/** Measures first, where that can change anything. */
export async function chooseLoad(request: ChoiceRequest): Promise<Chosen> {
  const { context, plan, servers, workloads, alternatives, progress } = request;
  const { configuration, loader: preferred, world } = context;
  const ours = servers.filter(({ existing }) => existing === undefined);
  if (!needsCalibration(configuration, plan, workloads) || ours.length === 0) {
    return { configuration, plan, loader: preferred, calibration: null };
  }
  const onlyUdp = plan.cases.every(({ transport }) => transport === 'udp');
  const { loader, calibration } = await calibrate({
    context,
    plan,
    servers: ours,
    alternatives,
    echo: onlyUdp ? echoOf(configuration) : null,
    saturate: configuration.saturate,
    progress,
  });
  const chosen = configurationWith(configuration, calibration, preferred.kind);
  return {
    configuration: chosen,
    plan: calibration.quotaShare === 1 ? plan : planWithDuet(chosen, world.machine.availableCpus, workloads),
    loader,
    calibration,
  };
}
