/** Propagation: how long does a new Service take to resolve? */
import { canonicalServerName } from '../../../config/server-name.ts';
import { defineExperiment } from '../../../engine/command.ts';
import { type Estimand, lessOf, moreOf } from '../../../engine/estimand.ts';
import type { ExperimentPlan, Measuring } from '../../../engine/experiment.ts';
import { median } from '../../../stats/intervals.ts';
import { percentileOf } from '../../../stats/percentile.ts';
import { propagationDocument } from './document.ts';
import {
  changesText,
  loadName,
  loadOf,
  objectsText,
  type PropagationEvidence,
  propagationEvidenceSchema,
} from './evidence.ts';
import { demandPossible, objectsOf, PROPAGATION_SETTINGS, type PropagationSettings } from './settings.ts';

const figure = (
  name: string,
  title: string,
  compared: 'ratio' | 'no',
  values: (evidence: PropagationEvidence) => readonly number[],
  of: (values: readonly number[]) => number = median,
) =>
  lessOf<PropagationEvidence>(name, title, 'seconds', compared, (evidence) => {
    const found = values(evidence);
    const figure = found.length === 0 ? null : of(found);
    return figure === Number.POSITIVE_INFINITY ? null : figure;
  });

/** A Service that did not resolve took longer than any that did; a figure that falls on one is not known. */
const DELAYS = ({ delaysSeconds, unresolved }: PropagationEvidence) => [
  ...delaysSeconds,
  ...new Array<number>(unresolved).fill(Number.POSITIVE_INFINITY),
];

export const ESTIMANDS: readonly Estimand<PropagationEvidence>[] = [
  figure('median', 'median delay', 'ratio', DELAYS),
  figure('p95', '95th percentile', 'ratio', DELAYS, (values) => percentileOf(values, 95)),
  figure('largest', 'largest', 'no', DELAYS, (values) => Math.max(...values)),
  figure('resolution', 'poll resolution', 'no', ({ resolutionsSeconds }) => resolutionsSeconds),
  figure('creation', 'creation', 'no', ({ creationSeconds = [] }) => creationSeconds),
  lessOf('unresolved', 'not resolved', 'count', 'no', ({ unresolved }) => unresolved),
  moreOf('held', 'changes per second', 'count', 'no', ({ heldChurnPerSecond }) => heldChurnPerSecond),
];

/** Starting CoreDNS; a Service takes about 25 ms here, and a fifth of a second on a cluster. */
function secondsPerTrial({ services, target }: PropagationSettings, objects: number): number {
  const [start, each] = target === 'local' ? [2, 0.03] : [15, 0.2];
  return start + objects / 50_000 + services * each;
}

async function plan(settings: PropagationSettings): Promise<ExperimentPlan<null>> {
  const { demandClusterServers } = await import('../machine.ts');
  demandClusterServers(settings.servers);
  demandPossible(settings);
  const loads = objectsOf(settings).flatMap((objects) => settings.churn.map((churn) => ({ objects, churn })));
  const [least] = loads.toSorted((a, b) => a.objects - b.objects || a.churn - b.churn);
  return {
    subjects: loads.map((load) => ({
      name: loadName(load),
      title: `${objectsText(load.objects)}, ${changesText(load.churn)}`,
    })),
    baseline: least === undefined ? null : loadName(least),
    cases: settings.servers.flatMap((entry) =>
      settings.configurations.flatMap((configuration) =>
        loads.map((load) => {
          const server = canonicalServerName(entry);
          return {
            key: `${server}/${configuration}/${load.objects}/churn=${load.churn}`,
            subject: loadName(load),
            point: { server, configuration },
            expectedSeconds: secondsPerTrial(settings, load.objects),
          };
        }),
      ),
    ),
    // On a cluster, objects are created for all trials that want as many.
    ...(settings.target === 'kubernetes' && {
      order: (cases, round) => {
        const bySize = cases.toSorted((a, b) => loadOf(a.subject).objects - loadOf(b.subject).objects);
        return round % 2 === 0 ? bySize : bySize.toReversed();
      },
    }),
    decided: null,
  };
}

export const propagation = defineExperiment({
  name: 'capacity-propagation',
  command: 'capacity propagation',
  question: 'How long does a new Service take to resolve?',
  description: 'how long a new Service takes to resolve, by objects and by changes a second',
  settings: PROPAGATION_SETTINGS,
  plan,
  async open(request) {
    return request.settings.target === 'kubernetes'
      ? (await import('./on-cluster.ts')).openOnCluster(request)
      : (await import('./here.ts')).openHere(request);
  },
  evidence: propagationEvidenceSchema,
  trial: ({ measure }: Measuring<PropagationEvidence>, planned, on) => measure(planned, on),
  estimands: () => ESTIMANDS,
  document: propagationDocument,
});
