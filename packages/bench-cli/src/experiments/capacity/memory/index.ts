/** Memory: how much does CoreDNS need for how many objects, on this machine and on a cluster? */
import { defineExperiment } from '../../../engine/command.ts';
import { lessOf } from '../../../engine/estimand.ts';
import type { Measuring } from '../../../engine/experiment.ts';
import { serverWords } from '../figures.ts';
import { memoryDocument } from './document.ts';
import { FIGURES, MEMORY_NAME, type MemoryEvidence, memoryEvidenceSchema } from './evidence.ts';
import {
  demandRoom,
  detailsOf,
  enginePoint,
  expectedBytes,
  expectedSeconds,
  maxLanes,
  memoryPoints,
  pointOf,
  rateOf,
} from './points.ts';
import { MEMORY_SETTINGS } from './settings.ts';

export const capacityMemory = defineExperiment({
  name: MEMORY_NAME,
  command: 'capacity memory',
  question: 'How much memory does CoreDNS need for how many objects?',
  description: 'how much memory CoreDNS needs for how many objects, on this machine or on a cluster',
  settings: MEMORY_SETTINGS,
  async plan(settings, world) {
    const { decideCoredns } = await import('../machine.ts');
    await decideCoredns(world, 'capacity memory', settings);
    const points = memoryPoints(settings);
    // Half of the machine: the other half is for whatever else it does.
    const budgetBytes = settings.memory ?? world.machine.memoryBytes / 2;
    demandRoom(points, settings, budgetBytes);
    rateOf(settings);
    const lanes =
      settings.target === 'local' ? (settings.sideBySide ?? maxLanes(world.machine.availableCpus)) : 1;
    const servers = [...new Set(points.map(({ server }) => server))];
    return {
      subjects: servers.map((name) => ({ name, title: serverWords(name) })),
      baseline: servers[0] ?? null,
      cases: points.map((point) => ({
        key: point.key,
        subject: point.server,
        point: enginePoint(point, settings.target),
        expectedSeconds: expectedSeconds(point, settings, lanes),
        details: detailsOf(point, settings),
      })),
      decided: { points, lanes },
      lanes,
      fits: (together) =>
        together.reduce((sum, item) => sum + expectedBytes(pointOf(item)), 0) <= budgetBytes,
    };
  },
  async open(request) {
    return request.settings.target === 'kubernetes'
      ? (await import('./on-cluster.ts')).openOnCluster(request)
      : (await import('./here.ts')).openHere(request);
  },
  evidence: memoryEvidenceSchema,
  trial: ({ measure }: Measuring<MemoryEvidence>, planned, on) => measure(planned, on),
  estimands: () =>
    Object.entries(FIGURES).map(([name, { title, compared, of }]) =>
      lessOf(name, title, 'decimal bytes', compared, of),
    ),
  document: memoryDocument,
});
