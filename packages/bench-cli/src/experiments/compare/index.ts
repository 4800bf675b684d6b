/** `bench run` and `bench matrix`: how fast do servers answer, and at which cost? */
import { SETTINGS } from '../../config/settings.ts';
import type { Procedure } from '../../engine/experiment.ts';
import type { DecidedServers } from '../../engine/servers.ts';
import type { RunRecord, Trial } from '../../results/record.ts';
import { planCompare, settleCompare } from './decide.ts';
import type { CompareContext } from './form.ts';

export const compareProcedure: Procedure<typeof SETTINGS, DecidedServers, CompareContext, Trial, RunRecord> =
  {
    name: 'compare',
    command: 'run',
    settings: SETTINGS,
    settle: settleCompare,
    plan: planCompare,
    // Much to load, which a plan does not need.
    open: async (request) => (await import('./open.ts')).openCompare(request),
    trial: async (...parameters) => (await import('./open.ts')).compareTrial(...parameters),
    together: async (...parameters) => (await import('./open.ts')).duetTrials(...parameters),
  };
