/** Disrupt: what do clients lose when a server fails, or when its upstream does? */
import type { PodFault } from '../../cluster-changes/pod-faults.ts';
import { defineExperiment } from '../../engine/command.ts';
import type { Measuring } from '../../engine/experiment.ts';
import { demandFactors } from '../../engine/factors.ts';
import { refuse } from '../../errors.ts';
import { formatCount } from '../../report/numbers.ts';
import type { World } from '../../world.ts';
import { disruptDocument } from './document.ts';
import { type DisruptEvidence, type DisruptPlan, disruptEvidenceSchema } from './evidence.ts';
import { FACTORS } from './factors.ts';
import { demandPlace, faultsOf } from './faults.ts';
import { estimandsOf } from './figures.ts';
import { DISRUPT_GROUPS, DISRUPT_SETTINGS, type DisruptSettings } from './settings.ts';

/** Each has a port that Linux chooses, by default one from 32,768 to 60,999; others have some of these. */
const MOST_FRESH = 28_000;

async function plan(settings: DisruptSettings, world: World): Promise<DisruptPlan> {
  const { target, factors, rate, duration } = settings;
  const faults = faultsOf(settings);
  demandPlace(faults, target);
  demandFactors(FACTORS, factors, target);
  refuse(
    factors.sockets?.includes('fresh') === true &&
      rate * duration > MOST_FRESH && [
        `--factors: sockets=fresh takes a socket for each of ${formatCount(rate * duration)} queries, and ${formatCount(MOST_FRESH)} are possible`,
        'Use a lower --rate, or a shorter --duration.',
      ],
  );
  if (target === 'local') {
    const { planHere } = await import('./here.ts');
    return planHere(settings, world);
  }
  const { planOnCluster } = await import('./cluster/plan.ts');
  // Those of the other target were refused.
  return planOnCluster(settings, faults as readonly PodFault[], world);
}

const EXAMPLES = `
Examples:
  bench disrupt                                a restart of CoreDNS and DinoDNS
  bench disrupt --fault upstream-silent --servers coredns,unbound
                                               an upstream that does not answer
  bench disrupt --target kubernetes            a rolling update of cluster DNS
  bench disrupt --fault rollout --factors 'lameduck=0,5,30' --duration 40
                                               how long a lameduck should be`;

export const disrupt = defineExperiment({
  name: 'disrupt',
  question: 'What do clients lose when a server fails, or when its upstream does?',
  description: 'what clients lose when a server or a DNS pod of a cluster fails, or when its upstream does',
  settings: DISRUPT_SETTINGS,
  commands: [{ command: 'disrupt', groups: DISRUPT_GROUPS, examples: EXAMPLES }],
  plan,
  open: (request) => request.decided.open(request),
  evidence: disruptEvidenceSchema,
  trial: ({ measure }: Measuring<DisruptEvidence>, planned, on) => measure(planned, on),
  estimands: estimandsOf,
  document: disruptDocument,
});
