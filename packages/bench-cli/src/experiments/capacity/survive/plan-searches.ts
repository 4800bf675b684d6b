/** What is searched for, from the settings: the sizes may be those of a cluster. */
import type { ExperimentPlan } from '../../../engine/experiment.ts';
import { formatCount } from '../../../report/numbers.ts';
import type { World } from '../../../world.ts';
import { countCluster } from '../cluster-counts.ts';
import { decideCoredns } from '../machine.ts';
import { demandRoom, expectedBytes, maxLanes, rateOf } from '../memory/points.ts';
import {
  clusterText,
  enginePoint,
  expectedSeconds,
  pointOf,
  pointsOf,
  type SurvivePlan,
  sizesOf,
  subjectNameOf,
  subjectsOf,
} from './points.ts';
import { fewStarts } from './search.ts';
import type { SurviveSettings } from './settings.ts';

/** Counted once: a run that is resumed goes on with the same objects, whatever the cluster has by then. */
async function countedIn(world: World, settings: SurviveSettings): Promise<SurvivePlan['counted']> {
  if (!settings.fromCluster) return null;
  // Contradictions are said before anybody is asked.
  sizesOf(settings);
  const { pods, services, endpoints, source } = await countCluster(world, settings.context);
  const behind = endpoints === null ? {} : { endpoints: [endpoints] };
  const { context: _context, ...others } = settings;
  const addresses =
    endpoints === null ? 'addresses may not be read: as many as pods' : `${formatCount(endpoints)} addresses`;
  return {
    settings: { ...others, fromCluster: false, objects: [pods + services], services: [services], ...behind },
    text: `${source}: ${formatCount(pods)} pods, ${formatCount(services)} services; ${addresses}`,
  };
}

/** A larger limit is no answer for a pod that serves DNS. */
const CLUSTER_BYTES = 4 * 2 ** 30;

export async function planSearches(
  given: SurviveSettings,
  world: World,
): Promise<ExperimentPlan<SurvivePlan>> {
  const counted = await countedIn(world, given);
  const settings = counted?.settings ?? given;
  await decideCoredns(world, 'capacity survive', settings);
  const points = pointsOf(settings, sizesOf(settings));
  const isCluster = settings.target === 'kubernetes';
  // Half of the machine: the other half is for whatever else it does.
  const mostBytes = settings.memory ?? (isCluster ? CLUSTER_BYTES : world.machine.memoryBytes / 2);
  rateOf(settings);
  demandRoom(points, settings, mostBytes);
  const subjects = subjectsOf(settings);
  const lanes = isCluster ? 1 : (settings.sideBySide ?? maxLanes(world.machine.availableCpus));
  const together = Math.min(lanes, points.length * settings.trials);
  const summary = [
    ...(counted === null ? [] : [counted.text]),
    ...(isCluster ? [clusterText(points)] : []),
    ...fewStarts(settings.starts),
  ].join('\n');
  return {
    subjects,
    baseline: subjects[0]?.name ?? null,
    cases: points.map((point) => ({
      key: point.key,
      subject: subjectNameOf(point),
      point: enginePoint(point),
      expectedSeconds: expectedSeconds(point, settings, lanes, together),
    })),
    decided: { lanes, mostBytes, counted },
    lanes,
    fits: (running) => running.reduce((sum, item) => sum + expectedBytes(pointOf(item)), 0) <= mostBytes,
    ...(summary !== '' && { summary }),
  };
}
