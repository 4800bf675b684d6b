/** Loss: how much load does a server take until it loses queries, and what does it do beyond that? */
import { percentText } from '../../config/value-schemas.ts';
import { defineExperiment } from '../../engine/command.ts';
import type { Estimand } from '../../engine/estimand.ts';
import { lossDocument } from './document.ts';
import { type LossEvidence, lossEvidenceSchema } from './evidence.ts';
import { LOSS_SETTINGS, type LossSettings, multiplesFor } from './settings.ts';
import type { LossContext } from './trial.ts';
import { bandTitle } from './words.ts';

/** Rates that a search tries, typically. */
const SEARCH_PROBES = 14;

/** Starting a load generator, and waiting for the last query. */
const PROBE_OVERHEAD_SECONDS = 1;

function expectedSeconds({ warmup, duration, overload }: LossSettings): number {
  // The last one is the overload, with what follows.
  const probes = SEARCH_PROBES + multiplesFor(overload).length + 1;
  return warmup + probes * (duration + PROBE_OVERHEAD_SECONDS);
}

function bandEstimand(maxLostRatio: number, precision: number): Estimand<LossEvidence> {
  return {
    name: `rate@${percentText(maxLostRatio)}`,
    title: bandTitle(maxLostRatio),
    unit: 'queries/s',
    better: 'more',
    compared: 'ratio',
    // Equal servers end anywhere within the last step, and in the same place every time.
    resolution: { share: precision, least: 1 },
    of({ bands }) {
      const band = bands.find((each) => each.maxLostRatio === maxLostRatio);
      if (band === undefined) return null;
      return band.generatorLimited ? { bound: band.rate } : band.rate;
    },
  };
}

/** In rising order. */
export const lossEstimands = ({ bands, precision }: Pick<LossSettings, 'bands' | 'precision'>) =>
  bands.toSorted((a, b) => a - b).map((band) => bandEstimand(band, precision));

export const loss = defineExperiment({
  name: 'loss',
  question: 'How much load does a server take until it loses queries, and what does it do beyond that?',
  settings: LOSS_SETTINGS,
  async plan(settings, world) {
    const { planServers } = await import('../../engine/servers.ts');
    return planServers(world, 'loss', settings, expectedSeconds(settings));
  },
  async open(request) {
    const { openServers } = await import('../../engine/servers.ts');
    const opened = await openServers(request);
    const { settings, decided } = request;
    return { ...opened, context: { trials: opened.context, decided, settings } };
  },
  evidence: lossEvidenceSchema,
  async trial(context: LossContext, planned, on) {
    const { lossTrial } = await import('./trial.ts');
    return lossTrial(context, planned, on);
  },
  estimands: lossEstimands,
  document: lossDocument,
});
