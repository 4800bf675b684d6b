/** Searches on a cluster: each start is a pod of its own with the limit, and the kubelet says whether CoreDNS was killed. */
import type { Measuring, Opened, OpenRequest } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { memoryQuantity } from '../../../quantity.ts';
import type { Phase } from '../beside/phases.ts';
import { SERVICE_RULE } from '../cluster/dns-account.ts';
import { endIfRefused, openStarts } from '../cluster/open-starts.ts';
import { openPrivateDns } from '../cluster/private-dns.ts';
import type { StartResult } from '../cluster/start-dns.ts';
import { clusterConfiguration, createdSize } from '../memory/points.ts';
import { sizeWith } from '../memory-basis.ts';
import type { Scenario, SurviveEvidence } from './evidence.ts';
import { findLimit, limitConditions, titleOf } from './find-limit.ts';
import { patienceSeconds, type Step, type StepSeconds } from './patience.ts';
import { environmentOf, pointOf, REPLACED_SHARE, type SurvivePlan, type SurvivePoint } from './points.ts';
import type { SurviveSettings } from './settings.ts';
import type { Start } from './start.ts';

/** What the program beside CoreDNS may change: Services that resolve later, and endpoints that are replaced. */
const POD_RULES = [
  SERVICE_RULE,
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['patch'] },
];

/** What the phases of the program are, in their order: where CoreDNS is killed, and for which step they are given time. */
const PHASES: readonly { phase: Phase; during: Scenario; step?: Step }[] = [
  { phase: 'cold-start', during: 'cold start', step: 'cold start' },
  { phase: 'cache', during: 'relist', step: 'full cache' },
  { phase: 'load', during: 'relist' },
  { phase: 'relist', during: 'relist', step: 'relist' },
  { phase: 'replace', during: 'replaced endpoints', step: 'replaced endpoints' },
  { phase: 'outage', during: 'API server outage', step: 'API server outage' },
];

/** As loaders on a machine count. */
const LOST_AFTER_MS = 2000;

/** Changes of endpoints take longest, at 50 a second. */
const CHANGES_SECONDS = 600;

/**
 * What a start came to: killed only where the kubelet says so.
 * @throws BenchError for an end that is no matter of memory: the trial fails then
 */
export function startOf(
  limitBytes: number,
  phases: readonly Phase[],
  { phases: ended, death, late, streamed, container }: StartResult,
): Start {
  const seen = PHASES.flatMap(({ phase, during, step }) => {
    const figures = ended.find((each) => each.phase === phase);
    return figures === undefined ? [] : [{ phase, during, step, figures }];
  });
  const scenarios = seen.flatMap(({ during, step, figures: { phase, rightSeconds = null, queries } }) => {
    if (during !== step) return [];
    const { sent, lost, servfail = 0 } = queries;
    return [
      { name: during, rightSeconds, queries: phase === 'cold-start' ? null : { sent, lost, servfail } },
    ];
  });
  const steps: StepSeconds = Object.fromEntries(
    seen.flatMap(({ step, figures }) => (step === undefined ? [] : [[step, figures.seconds]])),
  );
  const common = { limitBytes, scenarios, ...(container && { container }) };
  const isKilled = container?.reason === 'OOMKilled';
  if (death === null && !isKilled) {
    const peakBytes = Math.max(...ended.map((each) => each.peakBytes));
    return { result: { ...common, outcome: 'survived', during: null, peakBytes }, streamed, steps };
  }
  if (!isKilled && late === null) {
    const last = container && `the kubelet says: ${container.reason}, exit status ${container.exitCode}`;
    throw new BenchError('E_SERVER_DIED', `CoreDNS ended, but not for its memory: ${death}`, {
      evidence: last === null ? [] : [last],
      fix: 'See the events of the node: `kubectl describe node NAME`. Use --resume to measure the rest.',
    });
  }
  const last = phases[ended.length];
  const during = PHASES.find(({ phase }) => phase === last)?.during ?? 'API server outage';
  const outcome = isKilled ? 'killed' : 'stuck';
  return { result: { ...common, outcome, during, peakBytes: null }, streamed: [], steps };
}

export async function openOnCluster(
  request: OpenRequest<SurviveSettings, SurvivePlan>,
): Promise<Opened<Measuring<SurviveEvidence>>> {
  const { settings, decided } = request;
  const { objectsOf, imageOf, opened } = await openStarts(request, {
    withPods: settings.factors.config?.includes('autopath') === true,
    podRules: POD_RULES,
    nameOf: ({ configuration, cluster: { services, pods, endpoints } }: SurvivePoint) =>
      [configuration, services, pods, endpoints].join('/'),
    openObjects: (place, point) =>
      openPrivateDns({
        ...place,
        sizeBeside: () => createdSize(point),
        configuration: clusterConfiguration(point.configuration),
      }),
  });

  let starts = 0;

  async function start(point: SurvivePoint, limitBytes: number, usual: StepSeconds) {
    const dns = await objectsOf(point);
    starts += 1;
    const replaced = Math.ceil(point.cluster.endpoints * REPLACED_SHARE);
    const phases = PHASES.filter(({ phase }) => phase !== 'replace' || replaced > 0);
    const patience = phases.flatMap(({ phase, step }) =>
      step === undefined
        ? []
        : [[phase, patienceSeconds(step, usual, point.cluster, settings.outage)] as const],
    );
    const moreSeconds = patience.reduce((sum, [, most]) => sum + most, CHANGES_SECONDS + settings.outage);
    const limit = memoryQuantity(limitBytes);
    const names = phases.map(({ phase }) => phase);
    const result = await dns.start({
      ...{ image: imageOf(point.server), phases: names, seconds: 1, queriesPerSecond: settings.rate },
      memory: { request: limit, limit },
      moreSeconds,
      corednsEnv: environmentOf(point, limitBytes, settings.target),
      besideEnv: {
        LOST_AFTER_MS: String(LOST_AFTER_MS),
        // Only watches end: waits after failures would add to those after the outage.
        AWAY_SECONDS: '0',
        // Memory rises no more.
        AFTER_LIST_SECONDS: '2',
        OUTAGE: String(settings.outage),
        PATIENCE: JSON.stringify(Object.fromEntries(patience)),
        // The patience ends sooner.
        READY_SECONDS: String(moreSeconds),
        REPLACED: String(replaced),
        // Other addresses in each start.
        FIRST_ADDRESS: String(point.cluster.endpoints + starts * replaced),
      },
    });
    return startOf(limitBytes, names, result);
  }

  return {
    context: {
      async measure({ key, case: item }, on) {
        const point = pointOf(item);
        try {
          const found = await findLimit(
            { point, key, settings, mostBytes: decided.mostBytes, on },
            (bytes, number, usual) => {
              on.phase(titleOf(number, bytes));
              return start(point, bytes, usual);
            },
          );
          const { own, counts } = await objectsOf(point);
          return { ...found, read: sizeWith(own, counts) };
        } catch (error) {
          throw endIfRefused(error);
        }
      },
    },
    ...opened,
    conditions: { 'load generator': 'a program in the pod', ...limitConditions(settings) },
  };
}
