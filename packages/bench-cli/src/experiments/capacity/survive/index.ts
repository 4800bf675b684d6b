/** Survive: what is the smallest memory limit under which CoreDNS is not killed? */
import { defineExperiment } from '../../../engine/command.ts';
import { type Estimand, lessOf } from '../../../engine/estimand.ts';
import type { Measuring } from '../../../engine/experiment.ts';
import { surviveDocument } from './document.ts';
import {
  decisive,
  type SCENARIOS,
  SURVIVE_NAME,
  type SurviveEvidence,
  surviveEvidenceSchema,
} from './evidence.ts';
import { STEP_BYTES } from './search.ts';
import { SURVIVE_SETTINGS, type SurviveSettings } from './settings.ts';

/** The longest time until answers were right, in the starts under the limit that was found. */
function slowest(evidence: SurviveEvidence, scenario: (typeof SCENARIOS)[number]): number | null {
  const seconds = decisive(evidence)
    .flatMap(({ scenarios }) => scenarios)
    .flatMap(({ name, rightSeconds }) => (name === scenario ? (rightSeconds ?? []) : []));
  return seconds.length === 0 ? null : Math.max(...seconds);
}

const TIMES = [
  ['coldStart', 'cold start'],
  ['relist', 'relist'],
  ['replaced', 'replaced endpoints'],
  ['outage', 'API server outage'],
] as const;

const estimandsOf = ({ resolution, rate }: SurviveSettings): readonly Estimand<SurviveEvidence>[] => [
  {
    ...lessOf<SurviveEvidence>(
      'limit',
      'memory limit needed',
      'bytes',
      'ratio',
      ({ limitBytes }) => limitBytes,
    ),
    // Searches go on side by side for an hour: those of a round share no moment.
    isPaired: false,
    resolution: { share: resolution, least: STEP_BYTES },
  },
  ...TIMES.map(([name, scenario]) =>
    lessOf<SurviveEvidence>(name, `right after ${scenario}`, 'seconds', 'no', (evidence) =>
      slowest(evidence, scenario),
    ),
  ),
  lessOf('lost', 'queries lost or failed, in seconds of sending', 'seconds', 'no', (evidence) => {
    const lost = decisive(evidence).map(({ scenarios }) =>
      scenarios.reduce(
        (sum, { queries }) => sum + (queries === null ? 0 : queries.lost + queries.servfail),
        0,
      ),
    );
    return lost.length === 0 ? null : Math.max(...lost) / rate;
  }),
];

export const capacitySurvive = defineExperiment({
  name: SURVIVE_NAME,
  command: 'capacity survive',
  question: 'What is the smallest memory limit under which CoreDNS is not killed?',
  description:
    'the smallest memory limit under which CoreDNS survives cold start, relist and an API server outage',
  settings: SURVIVE_SETTINGS,
  async plan(settings, world) {
    return (await import('./plan-searches.ts')).planSearches(settings, world);
  },
  async open(request) {
    return request.settings.target === 'kubernetes'
      ? (await import('./on-cluster.ts')).openOnCluster(request)
      : (await import('./here.ts')).openHere(request);
  },
  evidence: surviveEvidenceSchema,
  trial: ({ measure }: Measuring<SurviveEvidence>, planned, on) => measure(planned, on),
  estimands: estimandsOf,
  document: surviveDocument,
});
