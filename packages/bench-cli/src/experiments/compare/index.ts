/** `bench run` and `bench matrix`: how fast do servers answer, and at which cost? */
import { PRESETS } from '../../config/presets.ts';
import { SETTING_GROUPS, SETTINGS } from '../../config/settings.ts';
import { shownDefault } from '../../config/short-run.ts';
import type { Procedure, SettingsView } from '../../engine/experiment.ts';
import type { DecidedServers } from '../../engine/servers.ts';
import type { RunRecord, Trial } from '../../results/record.ts';
import type { CompareContext } from './form.ts';

/** How every command with the settings of a run shows them. */
export const SETTINGS_VIEW: SettingsView = {
  groups: SETTING_GROUPS,
  presets: Object.keys(PRESETS),
  shownDefault,
};

const RUN_EXAMPLES = `
Examples:
  bench                                        CoreDNS, DinoDNS (stock), DinoDNS
  bench run --servers coredns@1.13.1,coredns   two versions of CoreDNS
  bench run --servers mine=mine.yaml,knot      your own server beside Knot DNS
  bench run --rate 20000 --until verdict       CPU at one rate, until it is sure
  bench run --target kubernetes --tier 0.5     on the cluster of the kubeconfig`;

const MATRIX_EXAMPLES = `
Examples:
  bench matrix --dry-run                       the plan, and how long it takes
  bench matrix --preset blog                   ten minutes a trial, as published
  bench matrix --servers coredns,knot          two other servers`;

// What a plan and a help do not need is loaded when it is used.
export const compareProcedure: Procedure<typeof SETTINGS, DecidedServers, CompareContext, Trial, RunRecord> =
  {
    name: 'compare',
    command: 'run',
    commands: [
      { ...SETTINGS_VIEW, command: 'run', isDefault: true, examples: RUN_EXAMPLES },
      // Of the published benchmark.
      {
        ...SETTINGS_VIEW,
        command: 'matrix',
        base: { tier: [1, 2, 4], mode: 'both' },
        examples: MATRIX_EXAMPLES,
      },
    ],
    settings: SETTINGS,
    settle: async (...parameters) => (await import('./decide.ts')).settleCompare(...parameters),
    plan: async (...parameters) => (await import('./decide.ts')).planCompare(...parameters),
    open: async (request) => (await import('./open.ts')).openCompare(request),
    trial: async (...parameters) => (await import('./open.ts')).compareTrial(...parameters),
    together: async (...parameters) => (await import('./open.ts')).duetTrials(...parameters),
  };
